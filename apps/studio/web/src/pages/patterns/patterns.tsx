// Patterns: who sees whom, where tokens stand, what it costs.

import { address, move, plainFragment, type Fields } from "../../app/address";
import type { Page, PageProps } from "../../app/page";
import { CostPage } from "./Cost";
import { MaskPage } from "./Mask";
import { PositionsPage } from "./Positions";
import "./patterns.css";

const parts = [
  { name: "mask", title: "Mask", asks: "who sees whom?", View: MaskPage },
  { name: "positions", title: "Positions", asks: "where do tokens stand?", View: PositionsPage },
  { name: "cost", title: "Cost", asks: "what does it take?", View: CostPage },
] as const;

export const patterns: Page = { name: "patterns", title: "Patterns", View: PatternsPage };

const left = new Map<string, Fields>(); // how each part was left

function PatternsPage(props: PageProps) {
  const { page, fields } = address.value;
  const name = page.split("/")[1] ?? "";
  const part = parts.find((one) => one.name === name) ?? parts[0];
  left.set(part.name, fields);
  const View = part.View;
  return (
    <div class="patterns">
      <div class="patterns-head">
        <h1>
          {part.title}: <span>{part.asks}</span>
        </h1>
        <nav class="segmented links" aria-label="Parts of this page">
          {parts.map((one) => {
            const to = { page: `patterns/${one.name}`, fields: one === part ? fields : (left.get(one.name) ?? {}) };
            return (
              <a
                key={one.name}
                href={`#${plainFragment(to)}`}
                aria-current={one === part ? "page" : undefined}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  move(to);
                }}
              >
                {one.title}
              </a>
            );
          })}
        </nav>
      </div>
      <View key={part.name} {...props} />
    </div>
  );
}
