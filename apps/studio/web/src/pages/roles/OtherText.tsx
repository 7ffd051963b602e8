// Values taken from the run over another text: a picture of what each layer gave at each place, to click.

import { useSignal } from "@preact/signals";
import { address } from "../../app/address";
import { changeText, designation, patternOf, readsOtherText, type Change } from "./changes";
import type { Desk } from "./desk";
import type { HeadAt } from "../heads/state";
import { headResultName, stateName } from "./state";

export function OtherText({ desk, head }: { desk: Desk; head: HeadAt }) {
  const { fields } = address.value;
  const from = fields["from_text"] ?? "";
  const open = useSignal(from !== "" || readsOtherText(desk.changes.value));
  const error = desk.changed.error.value;
  const own = error?.field === "from_text" ? error : null;
  if (desk.inputs.value.text === undefined) return null; // an example has no text to stand beside
  return (
    <details
      class="roles-other"
      open={open.value || own !== null}
      onToggle={(event) => (open.value = event.currentTarget.open)}
    >
      <summary>Put in something from another text</summary>
      <label>
        <span>Another text, of as many tokens</span>
        <input
          value={from}
          placeholder={desk.inputs.value.text}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={own !== null}
          onChange={(event) => desk.apply({ from_text: event.currentTarget.value.trim() || null })}
        />
      </label>
      {own && (
        <em class="problem" role="alert">
          {own.message}
        </em>
      )}
      {from !== "" && <Patches desk={desk} head={head} />}
    </details>
  );
}

function Patches({ desk, head }: { desk: Desk; head: HeadAt }) {
  const changes = desk.changes.value;
  const name = designation(head);
  const hasSource = desk.heads.value.some((one) => one.site === "cross");
  const layers = layersOf(desk, head);
  const tokens = (head.site === "source" ? desk.head.reply.value?.queries : desk.changed.reply.value?.tokens) ?? [];
  const isOn = (change: Change) => changes.includes(changeText(change));
  const result: Change = { kind: "patch", value: headResultName(head, hasSource), place: null };
  return (
    <>
      <div class="roles-tools">
        <div role="group" aria-label="Of this head">
          <span class="tool-name">Head {name}</span>
          <span class="tool-parts">
            <button
              type="button"
              class="chip"
              aria-pressed={patternOf(changes, name) === "text"}
              onClick={() => desk.toggle({ kind: "pattern", head: name, as: "text" })}
            >
              reads as there
            </button>
            <button type="button" class="chip" aria-pressed={isOn(result)} onClick={() => desk.toggle(result)}>
              gives what it gives there
            </button>
          </span>
        </div>
      </div>
      <p class="hint">Or what a whole layer gave at one place:</p>
      <div class="patch-scroll">
        <table class="patches">
          <thead>
            <tr>
              <td />
              {tokens.map((token, n) => (
                <th key={n} scope="col">
                  {token}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {layers.map((layer) => (
              <tr key={layer}>
                <th scope="row">layer {layer}</th>
                {tokens.map((token, place) => {
                  const change: Change = { kind: "patch", value: stateName(head, layer, hasSource), place };
                  return (
                    <td key={place}>
                      <button
                        type="button"
                        aria-pressed={isOn(change)}
                        aria-label={`What layer ${layer} gave at ${token}, place ${place}`}
                        onClick={() => desk.toggle(change)}
                      />
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

// From the last layer down, as the text's state grows upwards.
function layersOf(desk: Desk, head: HeadAt): number[] {
  const own = desk.heads.value
    .filter((one) => (one.site === "source") === (head.site === "source"))
    .map((one) => one.layer);
  const last = Math.max(...own, head.layer);
  return Array.from({ length: last + 1 }, (_, n) => last - n);
}
