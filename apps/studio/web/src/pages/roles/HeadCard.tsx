// The chosen head at work on the text, and what can be done to it.

import { useSignal } from "@preact/signals";
import { address, move } from "../../app/address";
import { ground } from "../../app/theme";
import type { HeadReply } from "../../engine/messages";
import { colourOfClass } from "./classes";
import { cutsOf, designation, isRemoved, patternOf, type Change } from "./changes";
import type { Desk } from "./desk";
import { EdgeMap } from "./EdgeMap";
import { OtherText } from "./OtherText";
import { benchAddress, type HeadAt } from "../heads/state";
import { atTheText } from "./state";

export function HeadCard({ desk }: { desk: Desk }) {
  const { head } = desk;
  const reply = head.reply.value;
  const chosen = desk.chosen.value;
  const everywhere = useSignal(false);
  if (!reply || !chosen) {
    const isSaidAbove = atTheText.includes(head.error.value?.field ?? "");
    return (
      <section class="card roles-head" aria-labelledby="head-title">
        <h2 id="head-title">One head at work</h2>
        {head.error.value ? (
          <p class={isSaidAbove ? "hint" : "problem"}>{isSaidAbove ? "Choose another model or text above." : head.error.value.message}</p>
        ) : (
          <p class="hint">Waiting for its map …</p>
        )}
      </section>
    );
  }
  const name = designation(chosen);
  const changes = desk.changes.value;
  const cut = (query: number, key: number) => {
    const known = cutsOf(changes, name).find((edge) => edge.query === query && edge.key === key);
    const inAll = known ? known.everywhere : everywhere.value && chosen.site === "tokens";
    desk.toggle({ kind: "cut", head: inAll ? null : name, query, key });
  };
  const after = changes.length > 0 && desk.headAfter.answered.value ? desk.headAfter.reply.value : null;
  const place = chosen.site === "source" ? null : (desk.changed.reply.value?.place ?? null);
  return (
    <section
      class={`card roles-head ${head.waiting.value ? "waiting" : ""}`}
      aria-labelledby="head-title"
      aria-busy={head.waiting.value}
    >
      <div class="roles-head-row">
        <h2 id="head-title">
          Head {name.replace(":", " ")}{" "}
          <span class="roles-class" style={{ "--class": colourOfClass(reply.shown.word, ground.value) }}>
            {reply.shown.word}
          </span>
        </h2>
        <button type="button" class="plain small" onClick={() => toBench(desk, chosen)}>
          Put on the bench
        </button>
      </div>
      <p class="roles-lead">
        On this text: {reply.shown.evidence}. Rows <b class="q">read</b>, columns <b class="k">are read</b>.
      </p>
      {head.error.value && !atTheText.includes(head.error.value.field) && <p class="problem">{head.error.value.message}</p>}
      {changes.length > 0 && <BeforeAfterSwitch desk={desk} after={after} />}
      <EdgeMap
        reply={after && showsAfter() ? after : reply}
        label={`Weights of head ${name}${after && showsAfter() ? ", changed" : ""}`}
        cuts={cutsOf(changes, name)}
        place={place}
        onCut={cut}
      />
      {showsAfter() && desk.headAfter.error.value && <p class="problem">{desk.headAfter.error.value.message}</p>}
      <Tools desk={desk} name={name} site={chosen.site} keys={reply.keys} everywhere={everywhere} />
      <OtherText desk={desk} head={chosen} />
    </section>
  );
}

function showsAfter(): boolean {
  return address.value.fields["map"] === "changed";
}

/** The map as it is, or as it becomes with all changes. */
function BeforeAfterSwitch({ desk, after }: { desk: Desk; after: HeadReply | null }) {
  const isOn = showsAfter();
  return (
    <div class={`roles-map-switch ${desk.headAfter.waiting.value ? "waiting" : ""}`}>
      <div class="segmented" role="group" aria-label="The map">
        <button type="button" aria-pressed={!isOn} onClick={() => desk.apply({ map: null }, "quiet")}>
          untouched
        </button>
        <button type="button" aria-pressed={isOn} onClick={() => desk.apply({ map: "changed" }, "quiet")}>
          changed
        </button>
      </div>
      {isOn && after && <span>now {after.shown.word === "-" ? "too short to tell" : after.shown.evidence}</span>}
    </div>
  );
}

function toBench(desk: Desk, head: HeadAt): void {
  const place = head.site === "source" ? 0 : (desk.changed.reply.value?.place ?? 0);
  move({ page: "step", fields: benchAddress(desk.inputs.value, head, place) });
}

interface ToolsProps {
  desk: Desk;
  name: string;
  site: string;
  keys: readonly string[];
  everywhere: { value: boolean };
}

const patterns = [
  { as: "uniform", title: "evenly", says: "The same weight on every key that it sees" },
  { as: "previous", title: "the one before", says: "All weight on the key before the query" },
  { as: "self", title: "itself", says: "All weight on the query’s own key" },
] as const;

function Tools({ desk, name, site, keys, everywhere }: ToolsProps) {
  const changes = desk.changes.value;
  const removed = isRemoved(changes, name);
  const pattern = patternOf(changes, name);
  const set = (as: string) => desk.toggle({ kind: "pattern", head: name, as });
  const isKey = pattern !== null && /^\d+$/.test(pattern);
  const frozen = changes.includes("freeze norms");
  return (
    <div class="roles-tools">
      <div role="group" aria-label="The whole head">
        <span class="tool-name">Head</span>
        <span class="tool-parts">
          <Tool
            desk={desk}
            change={{ kind: "remove", head: name }}
            on={removed}
            title="Remove it"
            says="Its result is zero"
          />
        </span>
      </div>
      <div role="group" aria-label="What it reads instead">
        <span class="tool-name">Let it read</span>
        <span class="tool-parts">
          {patterns
            .filter(({ as }) => site !== "cross" || as === "uniform")
            .map(({ as, title, says }) => (
              <button
                key={as}
                type="button"
                class="chip"
                title={says}
                aria-pressed={pattern === as}
                onClick={() => set(as)}
              >
                {title}
              </button>
            ))}
          <label class={`chip-select ${isKey ? "on" : ""}`}>
            <span class="said">only one key</span>
            <select value={isKey ? pattern : ""} onChange={(event) => set(event.currentTarget.value || pattern || "")}>
              <option value="">{isKey ? "as it does" : "only …"}</option>
              {keys.map((key, n) => (
                <option key={n} value={String(n)} selected={pattern === String(n)}>
                  only {key} ({n})
                </option>
              ))}
            </select>
          </label>
        </span>
      </div>
      {site === "tokens" && (
        <div role="group" aria-label="Where a click on the map cuts">
          <span class="tool-name">A click cuts</span>
          <span class="tool-parts">
            <span class="segmented">
              <button type="button" aria-pressed={!everywhere.value} onClick={() => (everywhere.value = false)}>
                in this head
              </button>
              <button type="button" aria-pressed={everywhere.value} onClick={() => (everywhere.value = true)}>
                in every head
              </button>
            </span>
          </span>
        </div>
      )}
      <div role="group" aria-label="The rest of the model">
        <span class="tool-name">Norms</span>
        <span class="tool-parts">
          <Tool
            desk={desk}
            change={{ kind: "freeze" }}
            on={frozen}
            title="Freeze"
            says="Each norm divides by what it divided by in the untouched run"
          />
        </span>
      </div>
    </div>
  );
}

function Tool({
  desk,
  change,
  on,
  title,
  says,
}: {
  desk: Desk;
  change: Change;
  on: boolean;
  title: string;
  says: string;
}) {
  return (
    <button type="button" class="chip" title={says} aria-pressed={on} onClick={() => desk.toggle(change)}>
      {title}
    </button>
  );
}
