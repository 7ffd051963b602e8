// A page in parts: its title, what it asks, and a way to each part as that was left.

import { address, move, plainFragment } from "../app/address";
import { fieldsLeftAt } from "../app/left";
import "./page_parts.css";

export interface Part {
  /** The page of its address. */
  page: string;
  title: string;
  asks: string;
}

export function PageParts<P extends Part>({ parts, part }: { parts: readonly P[]; part: P }) {
  return (
    <div class="parts-head">
      <h1>
        {part.title}: <span>{part.asks}</span>
      </h1>
      <nav class="segmented links" aria-label="Parts of this page">
        {parts.map((one) => {
          const to = { page: one.page, fields: one === part ? address.value.fields : fieldsLeftAt(one.page) };
          return (
            <a
              key={one.page}
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
  );
}
