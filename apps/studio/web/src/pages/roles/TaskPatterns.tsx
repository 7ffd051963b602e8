// What a task asks of attention, and the head that does it best: a press looks at that head.

import { shown } from "../../drawing/numbers";
import type { RolesTaskPattern } from "../../engine/messages";
import { designation } from "./changes";
import type { Desk } from "./desk";
import { isSameHead } from "./state";

export function TaskPatterns({ desk, patterns }: { desk: Desk; patterns: readonly RolesTaskPattern[] }) {
  if (patterns.length === 0) return null;
  return (
    <div class="task-patterns">
      <h3>What its task asks for, and who does it</h3>
      <ul>
        {patterns.map((one) => (
          <li key={one.pattern}>
            <button
              type="button"
              class="chip"
              aria-pressed={isSameHead(one, desk.chosen.value)}
              title={`Its largest weight is there for ${shown(100 * one.largest, 0)} % of the queries`}
              onClick={() => desk.choose({ site: one.site, layer: one.layer, head: one.head })}
            >
              {designation(one).replace(":", " ")}
            </button>
            <span>
              <b>{one.pattern}</b> {shown(one.weight, 2)} <small>{one.description}</small>
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
