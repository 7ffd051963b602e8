// What each word brings: Q, K and V side by side, or X and the W that make them; and what else goes into the scores.

import { useSignal } from "@preact/signals";
import { address } from "../../app/address";
import { narrow } from "../../app/theme";
import type { BenchMatrix, BenchReply } from "../../engine/messages";
import { plainNumber } from "../../drawing/numbers";
import { MatrixTable } from "../../parts/MatrixTable";
import { Large } from "./Large";
import type { Bench } from "./bench";
import { gradientOf, isSmall, kindOf, matrixOf, scaleOf } from "./matrices";
import { addedWord, fromX, isDrawn, keyWords, mostWords, onRealHead, queryWords, removedWord, toX, usesX } from "./state";

interface InputsProps {
  bench: Bench;
  reply: BenchReply;
}

const asks: Readonly<Record<string, string>> = { q: "Q asks", k: "K offers", v: "V says" };

export function Inputs({ bench, reply }: InputsProps) {
  const { fields } = address.value;
  const x = matrixOf(reply, "x") !== null;
  return (
    <section class="card inputs" aria-labelledby="inputs-title">
      <h2 id="inputs-title">Each word brings</h2>
      {x && !isDrawn(fields) && <Group bench={bench} reply={reply} names={["x", "source", "w_q", "w_k", "w_v"]} />}
      <Group bench={bench} reply={reply} names={["q", "k", "v"]} />
      {x && isDrawn(fields) && <MadeFrom bench={bench} reply={reply} />}
      {bench.isLive && !onRealHead(fields) && <Words bench={bench} />}
      {bench.isLive && !onRealHead(fields) && <More bench={bench} reply={reply} />}
    </section>
  );
}

/** Of a drawn model: what stands before its queries, keys and values. */
function MadeFrom({ bench, reply }: InputsProps) {
  return (
    <details class="more">
      <summary>{matrixOf(reply, "embedded") ? "E + P = X, and X · W = Q, K, V" : "X · W = Q, K, V"}</summary>
      <Group bench={bench} reply={reply} names={["embedded", "encoding", "x", "source", "w_q", "w_k", "w_v"]} />
    </details>
  );
}

function Group({ bench, reply, names }: InputsProps & { names: readonly string[] }) {
  const matrices = names.map((name) => matrixOf(reply, name)).filter((matrix) => matrix !== null);
  const columns = matrices.reduce((sum, matrix) => sum + matrix.columns.length, 0);
  const fits = columns <= (narrow.value && bench.backward.value ? 4 : widestRow);
  const sameRows = (n: number) => fits && matrices[n]?.rows.join(" ") === matrices[n - 1]?.rows.join(" ");
  return (
    <div class="side-by-side">
      {matrices.map((matrix, n) => (
        <div key={matrix.name} class="with-gradient">
          <Input bench={bench} reply={reply} matrix={matrix} labels={n === 0 || !sameRows(n)} />
          {bench.backward.value && (
            <Gradient bench={bench} reply={reply} of={matrix.name} labels={n === 0 || !sameRows(n)} />
          )}
        </div>
      ))}
    </div>
  );
}

function Input({ bench, reply, matrix, labels }: InputsProps & { matrix: BenchMatrix; labels: boolean }) {
  const old = bench.before.value;
  const before = old ? matrixOf(old, matrix.name) : null;
  const editable = bench.isLive && matrix.role === "input" && !isDrawn(address.value.fields);
  if (isStrip(matrix, editable)) return <Large bench={bench} reply={reply} matrix={matrix} room={330} strips />;
  return (
    <MatrixTable
      {...matrix}
      title={asks[matrix.name] ?? matrix.title}
      decimals={editable && !onRealHead(address.value.fields) ? decimalsOf(matrix) : matrix.decimals}
      kind={kindOf(matrix.name)}
      rowLabels={labels}
      firstRow={matrix.first_row}
      currentRow={matrix.name === "q" ? reply.query : null}
      before={before}
      edit={
        editable ? (row, column, value, settled) => bench.edit(matrix.name, row, column, value, settled) : undefined
      }
    />
  );
}

// Inputs are shown as they were typed: with no more decimals than one of them needs.
function decimalsOf({ values, decimals }: BenchMatrix): number {
  const needed = Array.from(values.values, Number).map((value) => (plainNumber(value).split(".")[1] ?? "").length);
  return Math.min(Math.max(...needed, 0), decimals);
}

const widestTable = 4; // columns of vectors that stand beside each other
const widestRow = 6; // columns of matrices that stand beside each other and need their rows named but once
const tallestTable = 6; // rows of what is only to be read

function isStrip(matrix: BenchMatrix, editable: boolean): boolean {
  const isNarrow = matrix.columns.length <= widestTable && !(matrix.name.startsWith("w_") && matrix.rows.length > tallestTable);
  return !isSmall(matrix) || (!(editable && !onRealHead(address.value.fields)) && !isNarrow);
}

function isVector(name: string): boolean {
  return name === "x" || name === "source" || kindOf(name) !== undefined;
}

/** The gradient of a matrix, below it; nothing before the step that makes it. */
export function Gradient({ bench, reply, of, labels }: InputsProps & { of: string; labels: boolean }) {
  const matrix = matrixOf(reply, gradientOf[of] ?? "");
  if (!matrix) return null;
  const made = reply.back.findIndex((step) => step.made.includes(matrix.name));
  const shown = bench.motion.position.value >= made + 0.5 || matrix.name === "d_out";
  const scale = scaleOf(reply, matrix);
  const strip = isVector(of) ? isStrip(matrix, false) : !isSmall(matrix);
  return (
    <div class={shown ? "" : "to-come"}>
      {strip && shown && <Large bench={bench} reply={reply} matrix={matrix} room={330} strips />}
      {!strip && (
        <MatrixTable
          {...matrix}
          kind={kindOf(of)}
          rowLabels={labels}
          firstRow={matrix.first_row}
          scale={scale}
          columnLabels={!isVector(of) && of !== "out" && matrix.columns.length > widestTable}
          edit={
            bench.isLive && matrix.name === "d_out"
              ? (row, column, value, settled) => bench.edit("d_out", row, column, value, settled)
              : undefined
          }
        />
      )}
    </div>
  );
}

function Words({ bench }: { bench: Bench }) {
  const { fields } = address.value;
  const words = queryWords(fields);
  return (
    <div class="words">
      {words.length > 1 &&
        words.map((word, n) => (
          <button
            key={n}
            type="button"
            class="word"
            title={`Take ${word} away`}
            aria-label={`Take ${word} away`}
            onClick={() => bench.apply(removedWord(fields, n))}
          >
            {word} <span aria-hidden="true">×</span>
          </button>
        ))}
      {words.length < mostWords && (
        <button type="button" class="word add" onClick={() => bench.apply(addedWord(fields))}>
          + word
        </button>
      )}
    </div>
  );
}

const settings = [
  { name: "mask", label: "Mask", hint: "causal, window(2)" },
  { name: "bias", label: "Bias", hint: "alibi" },
  { name: "scale", label: "Scale", hint: "1 / √d" },
  { name: "softcap", label: "Softcap", hint: "none" },
];

function More({ bench, reply }: InputsProps) {
  const { fields } = address.value;
  const error = bench.asked.error.value;
  const set = (name: string) => (value: string) => bench.apply({ [name]: value || null, pin: null });
  const anySet = ["mask", "bias", "scale", "softcap", "context", "X"].some((name) => fields[name] !== undefined);
  const open = useSignal(anySet);
  const x = usesX(fields);
  const matrices = { q: matrixOf(reply, "q"), k: matrixOf(reply, "k"), v: matrixOf(reply, "v") };
  const toggleX = () => {
    if (!x) bench.apply(toX(fields));
    else if (matrices.q && matrices.k && matrices.v)
      bench.apply(fromX(matrices.q.values, matrices.k.values, matrices.v.values));
  };
  const message = (name: string) => (error?.field === name ? error : null);
  return (
    <details class="more" open={open.value || anySet} onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>Mask, bias, scale, second text, X and W</summary>
      {settings.map(({ name, label, hint }) => (
        <TextSetting key={name} label={label} hint={hint} value={fields[name] ?? ""} error={message(name)} set={set(name)} />
      ))}
      <TextSetting
        label="Second text"
        hint="keys and values come from it"
        value={fields["context"] === undefined ? "" : keyWords(fields).join(" ")}
        error={message("context")}
        set={(value) => bench.apply({ context: value || null, K: null, V: null, pin: null, back: null, dY: null })}
      />
      {!isDrawn(fields) && (
        <button type="button" class="plain small" onClick={toggleX}>
          {x ? "Give Q, K, V themselves" : "Make Q, K, V from X and W"}
        </button>
      )}
    </details>
  );
}

interface TextSettingProps {
  label: string;
  hint: string;
  value: string;
  error: { message: string; column: number | null } | null;
  set: (value: string) => void;
}

function TextSetting({ label, hint, value, error, set }: TextSettingProps) {
  return (
    <label class={`setting ${error ? "wrong-setting" : ""}`}>
      <span>{label}</span>
      <input
        value={value}
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        aria-invalid={error !== null}
        onChange={(event) => set(event.currentTarget.value.trim())}
      />
      {error && <em class="problem">{error.message}</em>}
    </label>
  );
}
