// Whose heads: a model of the box, or the one that the command named; and what it reads, where that is no text.

import { address, move } from "../../app/address";
import { about, type Desk } from "./desk";
import { exampleChanges } from "./state";

export function ModelChoice({ desk }: { desk: Desk }) {
  const { model, example } = desk.inputs.value;
  const names = about.value?.models.map((one) => one.name) ?? [];
  const others = [about.value?.model ?? "", model].filter((name) => name !== "" && !names.includes(name));
  const hasTask = about.value?.models.some((one) => one.name === model && one.task !== "") ?? false;
  return (
    <div class="roles-model">
      <label>
        <span>Model</span>
        <select value={model} onChange={(event) => move({ page: "roles", fields: { model: event.currentTarget.value } })}>
          {[...new Set([...others, ...names])].map((name) => (
            <option key={name} value={name} selected={name === model}>
              {shortName(name)}
            </option>
          ))}
        </select>
      </label>
      {example !== undefined && (
        <span class="roles-example" role="group" aria-label="Held-out example">
          <button type="button" class="icon" aria-label="Example before" disabled={example === 0} onClick={() => step(desk, example - 1)}>
            ‹
          </button>
          example {example}
          <button type="button" class="icon" aria-label="Next example" onClick={() => step(desk, example + 1)}>
            ›
          </button>
        </span>
      )}
      {example === undefined && hasTask && (
        <button type="button" class="plain small" onClick={() => step(desk, 0)}>
          a held-out example
        </button>
      )}
    </div>
  );
}

function step(desk: Desk, example: number): void {
  desk.apply(exampleChanges(address.value.fields, example));
}

/** A folder by its last part. */
export function shortName(model: string): string {
  return model.split("/").filter(Boolean).at(-1) ?? model;
}
