// Patterns: who sees whom, where tokens stand, what it costs.

import { address } from "../../app/address";
import type { Page, PageProps } from "../../app/page";
import { PageParts } from "../../parts/PageParts";
import { CostPage } from "./Cost";
import { MaskPage } from "./Mask";
import { PositionsPage } from "./Positions";
import "./patterns.css";
import "./cost.css";
import "./expression.css";
import "./mask.css";
import "./positions.css";

const parts = [
  { page: "patterns/mask", title: "Mask", asks: "who sees whom?", View: MaskPage },
  { page: "patterns/positions", title: "Positions", asks: "where do tokens stand?", View: PositionsPage },
  { page: "patterns/cost", title: "Cost", asks: "what does it take?", View: CostPage },
] as const;

export const patterns: Page = { name: "patterns", title: "Patterns", View: PatternsPage };

function PatternsPage(props: PageProps) {
  const part = parts.find((one) => one.page === address.value.page) ?? parts[0];
  const View = part.View;
  return (
    <div class="patterns">
      <PageParts parts={parts} part={part} />
      <View key={part.page} {...props} />
    </div>
  );
}
