// Which model reads what: models of the box, any other by its path, a text, and examples that show something.

import type { ReadonlySignal } from "@preact/signals";
import { plainFragment } from "../../app/address";
import type { AboutExample, AboutReply, HeadsRequest } from "../../engine/messages";
import type { EngineError } from "../../engine/errors";
import { ModelChoice } from "../../parts/ModelChoice";
import { Settled } from "../../parts/Settled";
import { chatChanges, exampleChanges, examplesOf, heldOutChanges, modelChanges, secondChanges, textChanges, type Changes } from "./state";
import "./model_bar.css";

/** Of a page that reads: what the engine refused, and how the address changes. */
interface Desk {
  heads: { error: ReadonlySignal<EngineError | null> };
  apply: (changes: Changes) => void;
}

interface ModelBarProps {
  desk: Desk;
  about: AboutReply;
  reading: HeadsRequest;
  /** Whether there is a field for a second text. */
  readsPairs?: boolean;
  /** Whether the text may be a message. */
  readsChat?: boolean;
}

export function ModelBar({ desk, about, reading, readsPairs = false, readsChat = false }: ModelBarProps) {
  const model = reading.model ?? "";
  const error = desk.heads.error.value;
  const wrong = (field: string) => (error?.field === field ? <p class="problem field-problem">{error.message}</p> : null);
  return (
    <form class="model-bar" onSubmit={(event) => event.preventDefault()}>
      <div class="model-fields">
        <ModelChoice
          about={about}
          model={model}
          label="Model"
          hint="/path/to/all-MiniLM-L6-v2"
          onChoose={(chosen) => desk.apply(modelChanges(chosen))}
        />
        {reading.text === undefined ? (
          <HeldOut model={model} example={reading.example ?? 0} desk={desk} />
        ) : (
          <Settled label="Reads" class="model-text" value={reading.text} onSettle={(text) => desk.apply(textChanges(model, text))} />
        )}
        {(readsPairs || reading.second !== undefined) && (
          <Settled
            label="and"
            class="model-text second-text"
            value={reading.second ?? ""}
            hint="a second text, as one of a pair"
            mayBeEmpty
            onSettle={(text) => desk.apply(secondChanges(text))}
          />
        )}
      </div>
      {readsChat && !isOfTheBox(about, model) && reading.text !== undefined && reading.second === undefined && (
        <label class="as-message">
          <input type="checkbox" checked={reading.chat ?? false} onChange={(event) => desk.apply(chatChanges(event.currentTarget.checked))} />
          A message in the model’s chat template
        </label>
      )}
      {wrong("model")}
      {wrong("chat")}
      {wrong("text")}
      {error?.field === "text" && isForFar(error) && reading.text !== undefined && (
        <p>
          <a href={`#${plainFragment({ page: "far", fields: { model, text: reading.text } })}`}>Read it on the page Far</a>
        </p>
      )}
      {wrong("second")}
      {wrong("example")}
      <Examples desk={desk} about={about} reading={reading} />
    </form>
  );
}

/** Those learnt tasks of their own, and no conversations. */
function isOfTheBox(about: AboutReply, model: string): boolean {
  return about.models.some((one) => one.name === model);
}

/** The engine names the page that has no such bound. */
function isForFar({ message }: EngineError): boolean {
  return message.includes("page Far");
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
