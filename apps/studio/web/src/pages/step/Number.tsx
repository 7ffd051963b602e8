// The number that is pointed at or pinned, beside the pictures, or as a sheet from below on a phone.

import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { address } from "../../app/address";
import { narrow } from "../../app/theme";
import { nudged, numberProblem, plainNumber, shown, typedNumber } from "../../drawing/numbers";
import type { BenchReply } from "../../engine/messages";
import { sizeOf, valueAt } from "../../engine/tensor";
import { Prose } from "../../parts/Prose";
import { Inspector } from "../../parts/Inspector";
import { parsedName, pinned, selected } from "../../parts/links";
import type { Bench } from "./bench";
import { matrixOf } from "./matrices";
import { neighbourOf } from "./neighbours";
import { fieldOf, isDrawn, onRealHead } from "./state";

interface NumberProps {
  bench: Bench;
  reply: BenchReply;
}

export function NumberPanel({ bench, reply }: NumberProps) {
  const isPinned = pinned.value !== null;
  if (narrow.value && !isPinned) return null;
  const name = selected.value;
  const number = bench.number.reply.value;
  return (
    <section class={`card number ${narrow.value ? "sheet" : ""}`} aria-label="The number pointed at">
      <Inspector
        reply={name ? number : null}
        error={name && !bench.asked.error.value ? bench.number.error.value : null}
        pinned={isPinned}
        was={name ? wasOf(bench, name, number?.shown ?? "") : null}
        onPin={bench.pin}
      >
        {number && name === number.name && (
          <Neighbours bench={bench} reply={reply} title="made of" names={number.sources} />
        )}
        {number && name === number.name && (
          <Neighbours bench={bench} reply={reply} title="goes into" names={number.uses} />
        )}
        {name !== null && name === pinned.value && <Change bench={bench} reply={reply} name={name} />}
        {name !== null && name === pinned.value && <Nudge bench={bench} reply={reply} name={name} />}
      </Inspector>
    </section>
  );
}

function Neighbours({ bench, reply, title, names }: NumberProps & { title: string; names: readonly string[] }) {
  const known = names.map((name) => neighbourOf(reply, name)).filter((one) => one !== null);
  if (known.length === 0) return null;
  return (
    <div class="neighbours">
      <span>{title}</span>
      <div>
        {known.map((one) => (
          <button key={one.name + one.label} type="button" class="small" onClick={() => bench.pin(one.name)}>
            <Prose text={one.label} /> <b>{one.values}</b>
          </button>
        ))}
      </div>
    </div>
  );
}

function wasOf(bench: Bench, name: string, now: string): string | null {
  const parts = parsedName(name);
  const matrix = parts && bench.before.value ? matrixOf(bench.before.value, parts.matrix) : null;
  if (!parts || !matrix || parts.row - matrix.first_row >= sizeOf(matrix.values).rows) return null;
  const was = shown(valueAt(matrix.values, parts.row - matrix.first_row, parts.column), Math.max(matrix.decimals, 4));
  return Number(was) === Number(now) ? null : was;
}

/** Buttons for a finger; a mouse types into the cell or drags it. */
function Change({ bench, reply, name }: NumberProps & { name: string }) {
  const parts = parsedName(name);
  const matrix = parts ? matrixOf(reply, parts.matrix) : null;
  if (!bench.isLive || !parts || !matrix || matrix.role !== "input" || isDrawn(address.value.fields)) return null;
  const value = valueAt(matrix.values, parts.row - matrix.first_row, parts.column);
  const by = (step: number) => (
    <button type="button" onClick={() => bench.edit(parts.matrix, parts.row, parts.column, nudged(value, step), true)}>
      {step > 0 ? "+" : "−"}
      {Math.abs(step)}
    </button>
  );
  return (
    <div class="change" role="group" aria-label="Change it">
      {by(-1)}
      {by(-0.1)}
      {by(0.1)}
      {by(1)}
      {onRealHead(address.value.fields) && (
        <ChangeTo key={name} value={value} onChange={(next) => bench.edit(parts.matrix, parts.row, parts.column, next, true)} />
      )}
    </div>
  );
}

function ChangeTo({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  const problem = useSignal<string | null>(null);
  const id = useId();
  const set = (text: string) => {
    problem.value = numberProblem(text);
    const next = typedNumber(text);
    if (next !== null) onChange(next);
  };
  return (
    <>
      <input
        class="change-to"
        aria-label="Change it to"
        aria-invalid={problem.value !== null}
        aria-describedby={problem.value === null ? undefined : id}
        value={plainNumber(Number(value.toPrecision(4)))}
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => set(event.currentTarget.value)}
      />
      {problem.value !== null && (
        <p class="problem" role="alert" id={id}>
          {problem.value}
        </p>
      )}
    </>
  );
}

const nudgeStep = 0.01;

function Nudge({ bench, reply, name }: NumberProps & { name: string }) {
  const parts = parsedName(name);
  if (!bench.isLive || !bench.backward.value || !parts || !fieldOf[parts.matrix] || parts.matrix === "d_out")
    return null;
  if (isDrawn(address.value.fields)) return null; // its other heads would not follow
  const asked = `${name}:${nudgeStep}`;
  const isOn = address.value.fields["nudge"] === asked;
  return (
    <div class="nudge">
      <button
        type="button"
        class="plain small"
        aria-pressed={isOn}
        onClick={() => bench.apply({ nudge: isOn ? null : asked })}
      >
        Nudge it by {nudgeStep}
      </button>
      {isOn && reply.nudge && (
        <p>
          <Prose text={reply.nudge.sentence} />
        </p>
      )}
    </div>
  );
}
