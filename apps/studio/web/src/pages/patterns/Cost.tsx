// What attention costs: every figure with its arithmetic, the T × T matrix against tiles, lines over the length.

import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, change, type Change, type Fields } from "../../app/address";
import type { PageProps, Takings } from "../../app/page";
import { useTakings } from "../../app/use_takings";
import { grouped } from "../../drawing/amounts";
import { quoted } from "../../drawing/csv";
import { lineChart } from "../../drawing/line_chart";
import { asked } from "../../engine/asked";
import { fields as described, type CostReply } from "../../engine/messages";
import { LineChart } from "../../parts/LineChart";
import { CountField, Slider } from "../../parts/Slider";
import { CostFigures } from "./CostFigures";
import { Memory } from "./Memory";
import { Problems, Said, problemOf } from "./Said";
import {
  amountWriter,
  costChart,
  costCommand,
  costRequest,
  counted,
  counts,
  itemOf,
  pointOf,
  presetChanges,
  presetOf,
  subjectOf,
  subjects,
  type Count,
  type Subject,
} from "./cost_state";
import { sliderAt, lengthAt } from "./mask_state";

export function CostPage({ engine, takings }: PageProps) {
  const request = useComputed(() => costRequest(address.value.fields));
  const cost = useMemo(() => asked(engine, "cost", request), [engine]);
  useEffect(() => cost.stop, [cost]);
  const reply = cost.reply.value;
  const of = cost.answered.value?.of ?? "memory";
  const { fields } = address.value;
  useTakings(takings, () => reply ? costTakings(reply, of, fields) : undefined, [reply, of, fields]);
  return (
    <div class={`part ${cost.waiting.value ? "waiting" : ""}`} aria-busy={cost.waiting.value}>
      <Problems asked={cost} inTheirPlace={reply ? counts : []} />
      {reply ? (
        <>
          <Model cost={cost} reply={reply} />
          <div class="cost-desk">
            <Memory reply={reply} />
            <Lines reply={reply} of={of} />
          </div>
          <CostFigures reply={reply} />
        </>
      ) : (
        !cost.error.value && !cost.gone.value && <p class="first-wait">Adding it up …</p>
      )}
    </div>
  );
}

type AskedCost = ReturnType<typeof asked<"cost">>;

const fieldOf = (name: string) => described.cost?.find((one) => one.name === name);

const front: readonly Count[] = ["layers", "d_model", "heads", "kv_heads", "tokens", "batch"];

function Model({ cost, reply }: { cost: AskedCost; reply: CostReply }) {
  const { fields } = address.value;
  const { model } = reply;
  const field = (name: Count) => (
    <CountField
      key={name}
      label={counted[name]}
      value={fields[name] ?? model[name]}
      meaning={fieldOf(name)?.meaning ?? ""}
      problem={problemOf(cost, name)}
      onChange={(text, how) => change({ [name]: text }, how)}
    />
  );
  const toggle = (name: "causal" | "gated", label: string) => (
    <label class="toggle">
      <input
        type="checkbox"
        checked={model[name]}
        onChange={(event) => change({ [name]: event.currentTarget.checked ? "1" : "0" })}
      />
      {label}
    </label>
  );
  const length = (at: number, how: Change) => change({ tokens: String(lengthAt(at)) }, how);
  return (
    <section class="card model-card" aria-label="The model">
      <div class="chips" role="group" aria-label="Models known by name">
        {reply.presets.map((preset) => (
          <button
            key={preset}
            type="button"
            class="chip"
            aria-pressed={preset === presetOf(fields)}
            onClick={() => change(presetChanges(preset))}
          >
            {preset}
          </button>
        ))}
      </div>
      <div class="sizes">
        <Slider
          label="T"
          shown={`${model.tokens.toLocaleString("en")} tokens`}
          at={sliderAt(model.tokens)}
          least={8}
          most={34}
          onMove={length}
        />
        {front.map(field)}
        <label class="count-field">
          <span>type</span>
          <select
            value={model.dtype}
            onChange={(event) =>
              change({ dtype: event.currentTarget.value === "f32" ? null : event.currentTarget.value })
            }
          >
            {fieldOf("dtype")?.words?.map((dtype) => (
              <option key={dtype}>{dtype}</option>
            ))}
          </select>
        </label>
        <details class="more">
          <summary>more of the model</summary>
          <div class="sizes">
            {counts.filter((name) => !front.includes(name)).map(field)}
            {toggle("causal", "causal")}
            {toggle("gated", "gated feed-forward")}
          </div>
        </details>
      </div>
    </section>
  );
}

function Lines({ reply, of }: { reply: CostReply; of: Subject }) {
  const at = useSignal<number | null>(null);
  useEffect(() => void (at.value = null), [reply.model.tokens]);
  const chart = useMemo(() => costChart(of, reply), [of, reply]);
  return (
    <section class="card lines-card" aria-label="Over the length">
      <div class="card-head">
        <h2>Over the length</h2>
        <div class="segmented" role="group" aria-label="What the lines show">
          {subjects.map((one) => (
            <button
              key={one.of}
              type="button"
              aria-pressed={one.of === subjectOf(address.value.fields)}
              onClick={() => change({ of: one.of === "memory" ? null : one.of })}
            >
              {one.name}
            </button>
          ))}
        </div>
      </div>
      <LineChart
        chart={chart}
        height={330}
        at={at.value ?? pointOf(reply)}
        onAt={(to) => (at.value = to)}
        writeX={(value) => `${value.toLocaleString("en")} tokens`}
        writeY={amountWriter(of)}
      />
      <LinesSaid reply={reply} of={of} />
    </section>
  );
}

const beside: Record<Subject, readonly [string, string]> = {
  memory: ["activations.standard", "activations.tiled"],
  flops: ["flops.forward", "flops.tiled.core.forward"],
  traffic: ["traffic.standard.forward", "traffic.tiled.forward"],
};

function LinesSaid({ reply, of }: { reply: CostReply; of: Subject }) {
  const write = amountWriter(of);
  const ends = reply.lines.map((line) => `${line.name} ${write(line.y.at(-1) ?? NaN)}`);
  const longest = reply.lines[0]?.x.at(-1) ?? 0;
  return (
    <Said
      seen="Both axes are logarithmic: what grows with T × T climbs twice as steeply as what grows with T."
      finding={`At ${grouped(longest)} tokens: ${ends.join("; ")}.`}
      numbers={beside[of].map((key) => {
        const item = itemOf(reply, key);
        return (
          <p key={key}>
            {item.name}: {item.arithmetic} = <b>{item.amount}</b>
          </p>
        );
      })}
    />
  );
}

function costTakings(reply: CostReply, of: Subject, fields: Fields): Takings {
  return {
    name: `cost-${reply.model.name}`,
    command: costCommand(fields),
    drawing: () => lineChart({ ...costChart(of, reply), width: 760, height: 420, names: "ends" }),
    table: { name: "figures", csv: () => figuresCsv(reply) },
  };
}

function figuresCsv(reply: CostReply): string {
  const lines = reply.groups.flatMap((group) =>
    group.items.map((item) => [item.key, item.name, item.arithmetic, String(item.value)]),
  );
  return (
    [["key", "name", "arithmetic", "value"], ...lines].map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n"
  );
}
