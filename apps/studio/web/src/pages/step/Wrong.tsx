// Goes wrong if …: a mistake that is often made, beside what is right.

import { address } from "../../app/address";
import { fields as described, type BenchReply, type BenchWrong } from "../../engine/messages";
import { sizeOf, type Tensor } from "../../engine/tensor";
import { NamedHeatmap } from "../../parts/NamedHeatmap";
import { MatrixTable } from "../../parts/MatrixTable";
import { Prose } from "../../parts/Prose";
import type { Bench } from "./bench";
import { isSmall, matrixOf } from "./matrices";
import { mistakeOf } from "./state";

const labels: Readonly<Record<string, string>> = {
  "no-scale": "no scaling",
  "model-scale": "√d of the model",
  "mask-after": "mask after softmax",
  "minus-1e9": "−10⁹ for −∞",
  "wrong-axis": "softmax down columns",
  "no-transpose": "no transpose",
  "no-max": "max not taken out",
  shuffled: "no positions: words shuffled",
};

const widths = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export function Wrong({ bench, reply }: { bench: Bench; reply: BenchReply }) {
  const { fields } = address.value;
  const chosen = mistakeOf(fields);
  const all = described.bench?.find((field) => field.name === "wrong")?.words?.filter(Boolean) ?? Object.keys(labels);
  const error = bench.asked.error.value;
  const offered = all.filter((id) => bench.can({ wrong: id, d: null }));
  if (offered.length === 0) return null;
  return (
    <section class="card wrong" aria-labelledby="wrong-title">
      <div class="wrong-row">
        <h2 id="wrong-title">Goes wrong if</h2>
        {offered.map((id) => (
          <button
            key={id}
            type="button"
            class="chip"
            aria-pressed={chosen === id}
            onClick={() => bench.apply({ wrong: chosen === id ? null : id, d: null })}
          >
            {labels[id] ?? id}
          </button>
        ))}
      </div>
      {chosen !== "" && error?.field === "wrong" && (
        <p class="problem" role="alert">
          {error.message}{" "}
          <button type="button" class="small" onClick={() => bench.apply({ wrong: null, d: null })}>
            Leave it out
          </button>
        </p>
      )}
      {chosen === "no-scale" && bench.isLive && <Width bench={bench} />}
      {reply.wrong && chosen === reply.wrong.id && <Beside reply={reply} wrong={reply.wrong} />}
    </section>
  );
}

function Width({ bench }: { bench: Bench }) {
  const now = Number(address.value.fields["d"] ?? 0);
  const at = Math.max(widths.indexOf(now), 0);
  const set = (settled: boolean) => (event: Event) => {
    const width = widths[Number((event.currentTarget as HTMLInputElement).value)];
    bench.apply({ d: String(width) }, settled ? "done" : "drag");
  };
  return (
    <label class="width">
      <span>
        {now > 0 ? (
          <>
            64 random queries of <b>{now}</b> numbers
          </>
        ) : (
          <>
            <b>This bench.</b> Drag for wider keys
          </>
        )}
      </span>
      <input
        type="range"
        min={0}
        max={widths.length - 1}
        value={at}
        aria-valuetext={String(now)}
        onInput={set(false)}
        onChange={set(true)}
      />
    </label>
  );
}

function Beside({ reply, wrong }: { reply: BenchReply; wrong: BenchWrong }) {
  const matrix = matrixOf(reply, wrong.matrix);
  const [row, column] = wrong.first;
  const marked = row !== undefined && column !== undefined ? ({ at: [row, column], as: "difference" } as const) : null;
  const side = (title: string, values: Tensor, sums: Tensor | null) => {
    const { rows, columns } = sizeOf(values);
    const same = matrix && matrix.rows.length === rows && matrix.columns.length === columns;
    if (!isSmall({ values })) {
      const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n));
      const large = {
        name: title,
        title,
        meaning: wrong.matrix,
        rows: numbers(rows),
        columns: numbers(columns),
        values,
      };
      return (
        <NamedHeatmap
          {...large}
          decimals={3}
          sums={sums}
          scale={{ map: "sequential", least: 0, most: 1 }}
          room={210}
          onPin={() => undefined}
        />
      );
    }
    return (
      <MatrixTable
        name={title}
        title={title}
        meaning={matrix?.meaning ?? wrong.matrix}
        rows={same ? matrix.rows : Array.from({ length: rows }, (_, n) => String(n + 1))}
        columns={same ? matrix.columns : Array.from({ length: columns }, (_, n) => String(n + 1))}
        values={values}
        hidden={null}
        decimals={Math.max(matrix?.decimals ?? 3, 3)}
        columnLabels={Boolean(same && wrong.matrix !== "out")}
        scale={wrong.matrix === "weights" ? { map: "sequential", least: 0, most: 1 } : null}
        marked={marked}
        sums={sums}
      />
    );
  };
  return (
    <div class="beside">
      <div class="beside-text">
        <h3>
          <Prose text={wrong.title} />
        </h3>
        <p>
          <Prose text={wrong.sentence} />
        </p>
        {wrong.code && <pre>{wrong.code.replace(/ {2,}/g, "  ")}</pre>}
      </div>
      {side("right", wrong.right, null)}
      {side("wrong", wrong.wrong, wrong.sums)}
    </div>
  );
}
