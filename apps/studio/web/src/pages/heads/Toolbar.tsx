// How the head is looked at, and what is left out.

import { address } from "../../app/address";
import type { HeadReply } from "../../engine/messages";
import { Legend } from "../../parts/Legend";
import { nextShade, shadeOf, shadings } from "../../parts/shade";
import type { Desk } from "./desk";
import { hidesSpecial, thresholdOf, viewOf, viewsOf, type View } from "./state";

const names: Readonly<Record<View, string>> = { matrix: "Matrix", image: "Picture", lines: "Lines", query: "One query", pair: "One pair", all: "All heads" };
const thresholds = ["0.01", "0.05", "0.1", "0.5"];

export function Toolbar({ desk, reply }: { desk: Desk; reply: HeadReply }) {
  const { fields } = address.value;
  const site = desk.site.value;
  const view = viewOf(fields, site);
  const shade = shadeOf(fields);
  const hasSpecial = reply.roles.includes("separator") && desk.canHideSpecial();
  return (
    <div class="heads-toolbar">
      <div class="segmented" role="group" aria-label="View">
        {viewsOf(site).map((one) => (
          <button key={one} type="button" aria-pressed={one === view} onClick={() => desk.apply({ view: one })}>
            {names[one]}
          </button>
        ))}
      </div>
      {view !== "all" && (
        <div class="toolbar-row">
          {view !== "pair" && (
            <label class="least">
              <span>Weights</span>
              <select value={String(thresholdOf(fields) || "")} onChange={(event) => desk.apply({ min: event.currentTarget.value })}>
                <option value="">all</option>
                {thresholds.map((one) => (
                  <option key={one} value={one}>
                    ≥ {one}
                  </option>
                ))}
              </select>
            </label>
          )}
          {hasSpecial && (
            <label class="hide-special">
              <input type="checkbox" checked={hidesSpecial(fields)} onChange={(event) => desk.apply({ special: event.currentTarget.checked ? "hide" : null })} />
              Hide {specialNames(reply)}
            </label>
          )}
          {view === "matrix" && (
            <Legend {...shadings[shade]} decimals={2} what="weights" onClick={() => desk.apply(nextShade(shade), "quiet")} />
          )}
        </div>
      )}
    </div>
  );
}

function specialNames(reply: HeadReply): string {
  return [...new Set(reply.keys.filter((_, n) => reply.roles[n] === "separator"))].slice(0, 3).join(" ");
}
