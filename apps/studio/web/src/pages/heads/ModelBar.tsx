// Which model reads what: models of the box, any other by its path, a text, and examples that show something.

import { useSignal, type ReadonlySignal } from "@preact/signals";
import type { AboutExample, AboutReply, HeadsRequest } from "../../engine/messages";
import type { EngineError } from "../../engine/errors";
import { exampleChanges, examplesOf, heldOutChanges, modelChanges, secondChanges, textChanges, type Changes } from "./state";
import "./model_bar.css";

/** Of a page that reads: what the engine refused, and how the address changes. */
interface Desk {
  heads: { error: ReadonlySignal<EngineError | null> };
  apply: (changes: Changes) => void;
}

const another = "another…";

interface ModelBarProps {
  desk: Desk;
  about: AboutReply;
  reading: HeadsRequest;
  /** Whether there is a field for a second text. */
  readsPairs?: boolean;
}

export function ModelBar({ desk, about, reading, readsPairs = false }: ModelBarProps) {
  const model = reading.model ?? "";
  const known = about.models.some((one) => one.name === model);
  const byPath = useSignal(!known);
  const error = desk.heads.error.value;
  const wrong = (field: string) => (error?.field === field ? <p class="problem field-problem">{error.message}</p> : null);
  return (
    <form class="model-bar" onSubmit={(event) => event.preventDefault()}>
      <div class="model-fields">
        <label class="model-choice">
          <span>Model</span>
          <select
            value={byPath.value ? another : model}
            onChange={(event) => {
              const chosen = event.currentTarget.value;
              byPath.value = chosen === another;
              if (!byPath.value) desk.apply(modelChanges(chosen));
            }}
          >
            {about.models.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
            <option>{another}</option>
          </select>
        </label>
        {byPath.value && (
          <Settled
            label="Folder or file"
            class="model-path"
            value={known ? "" : model}
            hint="/path/to/all-MiniLM-L6-v2"
            onSettle={(path) => path && desk.apply(modelChanges(path))}
          />
        )}
        {reading.text === undefined ? (
          <HeldOut model={model} example={reading.example ?? 0} desk={desk} />
        ) : (
          <Settled label="Reads" class="model-text" value={reading.text} onSettle={(text) => text && desk.apply(textChanges(model, text))} />
        )}
        {(readsPairs || reading.second !== undefined) && (
          <Settled
            label="and"
            class="model-text second-text"
            value={reading.second ?? ""}
            hint="a second text, as one of a pair"
            onSettle={(text) => desk.apply(secondChanges(text))}
          />
        )}
      </div>
      {wrong("model")}
      {wrong("text")}
      {wrong("second")}
      {wrong("example")}
      <Examples desk={desk} about={about} reading={reading} />
    </form>
  );
}

interface SettledProps {
  label: string;
  class: string;
  value: string;
  hint?: string;
  onSettle: (text: string) => void;
}

/** A text field that counts when it is left, or on Enter; Esc takes it back. */
function Settled({ label, value, hint, onSettle, ...props }: SettledProps) {
  const settle = (text: string) => text.trim() !== value && onSettle(text.trim());
  return (
    <label class={props.class}>
      <span>{label}</span>
      <input
        value={value}
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        onBlur={(event) => settle(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.value = value;
          else if (event.key !== "Enter") return;
          event.currentTarget.blur();
        }}
      />
    </label>
  );
}

function HeldOut({ desk, model, example }: { desk: Desk; model: string; example: number }) {
  const go = (to: number) => desk.apply(heldOutChanges(model, to));
  return (
    <div class="held-out" role="group" aria-label="Held-out example of its task">
      <span>Reads example</span>
      <button type="button" class="icon small" aria-label="The example before" disabled={example === 0} onClick={() => go(example - 1)}>
        ‹
      </button>
      <b>{example}</b>
      <button type="button" class="icon small" aria-label="The next example" onClick={() => go(example + 1)}>
        ›
      </button>
    </div>
  );
}

function nameOf({ text, example }: AboutExample): string {
  return text || `example ${example}`;
}

/** Those of this model, then one of each other that has something to look at. */
function Examples({ desk, about, reading }: { desk: Desk; about: AboutReply; reading: HeadsRequest }) {
  const model = reading.model ?? "";
  const own = examplesOf(about, model).map((example) => ({ model, example }));
  const others = ["english", "gpt", "induction", "translation"]
    .filter((name) => name !== model)
    .flatMap((name) => examplesOf(about, name).slice(0, 1).map((example) => ({ model: name, example })));
  return (
    <div class="example-row" role="group" aria-label="Examples">
      <span>Try</span>
      {[...own, ...others].map((one) => (
        <button
          key={`${one.model} ${nameOf(one.example)}`}
          type="button"
          class="example"
          aria-pressed={one.model === model && isRead(reading, one.example)}
          onClick={() => desk.apply(exampleChanges(one.model, one.example))}
        >
          {one.model !== model && <b>{one.model} </b>}
          <span>{nameOf(one.example)}</span>
        </button>
      ))}
    </div>
  );
}

function isRead(reading: HeadsRequest, { text, example }: AboutExample): boolean {
  return reading.text === undefined ? text === "" && example === reading.example : text === reading.text;
}
