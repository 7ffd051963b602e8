// Beside every picture: what is seen, what follows from it, and the same in numbers.

import type { ComponentChildren } from "preact";
import type { Asked } from "../../engine/asked";
import type { EngineError } from "../../engine/errors";
import type { Questions } from "../../engine/messages";
import { Undoable } from "../../parts/Undoable";

export function Said({
  seen,
  finding,
  numbers,
}: {
  seen: ComponentChildren;
  finding: ComponentChildren;
  numbers: ComponentChildren;
}) {
  return (
    <dl class="said-beside">
      <dt>What is seen</dt>
      <dd>{seen}</dd>
      <dt>Finding</dt>
      <dd class="finding">{finding}</dd>
      <dt>In numbers</dt>
      <dd class="in-numbers">{numbers}</dd>
    </dl>
  );
}

/** Errors that no field shows; the last good reply stays below. */
export function Problems<Q extends keyof Questions>({
  asked,
  inTheirPlace,
}: {
  asked: Asked<Q>;
  inTheirPlace: readonly string[];
}) {
  const gone = asked.gone.value;
  const error = asked.error.value;
  if (gone) return <p class="problem banner">{gone.message}</p>;
  if (!error || inTheirPlace.includes(error.field)) return null;
  return <Undoable message={named(error)} />;
}

/** The message with the field that it means. */
export function named({ field, message }: EngineError): string {
  return field && !message.includes(field) ? `${field}: ${message}` : message;
}

export function problemOf<Q extends keyof Questions>(asked: Asked<Q>, field: string): string | null {
  const error = asked.error.value;
  return error?.field === field ? error.message : null;
}
