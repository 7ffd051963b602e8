// One head in the models that were kept, side by side, and large at the step that is looked at.

import { signal, useSignal } from "@preact/signals";
import { address, change } from "../../app/address";
import { ground } from "../../app/theme";
import { coloured } from "../../drawing/colour";
import type { HeadReply, HeadsReply, HeadsSite, LearnReply } from "../../engine/messages";
import { valueAt } from "../../engine/tensor";
import { headMap, saidOf, summaryOf } from "../../parts/head_map";
import { Heatmap } from "../../parts/Heatmap";
import { HeadPicker } from "../../parts/HeadPicker";
import { Legend } from "../../parts/Legend";
import type { Place } from "../../parts/one_cell";
import { nextShade, shadeOf, shadings } from "../../parts/shade";
import type { Desk } from "./desk";

const weights = { map: "sequential", least: 0, most: 1 } as const;

export function Film({ desk, reply }: { desk: Desk; reply: LearnReply }) {
  const { site: wanted, layer, head } = desk.chosen.value;
  const heads = desk.heads.value;
  const site = heads?.sites.find((one) => one.site === wanted) ?? heads?.sites[0];
  const step = desk.model.value?.step ?? 0;
  const now = desk.head.value;
  return (
    <section class="card film" aria-labelledby="film-title">
      <div class="film-head">
        <h2 id="film-title">
          The same head, step by step <small>{now?.shown.evidence ?? ""}</small>
        </h2>
        <Examples desk={desk} />
      </div>
      {desk.headsError.value && <p class="problem">{desk.headsError.value}</p>}
      <StepSlider reply={reply} step={step} />
      <div class="film-row">
        {desk.filmed.value.map((model) => (
          <Frame key={model.step} step={model.step} reply={desk.film.value.get(model.step) ?? null} isNow={model.step === step} />
        ))}
      </div>
      {site && heads && (
        <div class="film-large">
          <div>
            <h3>Which head</h3>
            <HeadPicker
              layers={site.layers}
              heads={site.heads}
              chosen={{ layer, head }}
              onPick={(to) => change({ head: `${site.site}.${to.layer}.${to.head}` })}
              note={(one) => noteOn(site, one.layer, one.head)}
            />
            <Says heads={heads} step={step} />
          </div>
          <Large site={site} layer={layer} head={head} now={now} />
        </div>
      )}
    </section>
  );
}

function noteOn(site: HeadsSite, layer: number, head: number): { colour: string; says: string } | null {
  const known = site.classes.find((one) => one.layer === layer && one.head === head);
  return known ? { colour: coloured(weights, 1 - known.evenness, ground.value), says: known.evidence } : null;
}

function Examples({ desk }: { desk: Desk }) {
  const { example, text } = desk.chosen.value;
  if (text) return null;
  return (
    <div class="examples">
      <button type="button" disabled={example === 0} onClick={() => change({ example: example > 1 ? String(example - 1) : null })}>
        ‹
      </button>
      <span>example {example}</span>
      <button type="button" onClick={() => change({ example: String(example + 1) })}>
        ›
      </button>
    </div>
  );
}

function StepSlider({ reply, step }: { reply: LearnReply; step: number }) {
  const at = Math.max(
    reply.kept.findIndex((one) => one.step === step),
    0,
  );
  const set = (event: Event, how: "drag" | "done") => {
    const model = reply.kept[Number((event.currentTarget as HTMLInputElement).value)];
    if (model) change({ step: String(model.step) }, how);
  };
  return (
    <label class="step-slider">
      step <output>{step}</output>
      <input
        type="range"
        min={0}
        max={reply.kept.length - 1}
        value={at}
        aria-valuetext={`step ${step}`}
        onInput={(event) => set(event, "drag")}
        onChange={(event) => set(event, "done")}
      />
    </label>
  );
}

const frameRoom = 88;

function Frame({ step, reply, isNow }: { step: number; reply: HeadReply | null; isNow: boolean }) {
  const rows = reply?.queries.length ?? 1;
  const columns = reply?.keys.length ?? 1;
  const cell = frameRoom / Math.max(rows, columns);
  return (
    <button type="button" class="frame" aria-pressed={isNow} aria-label={`step ${step}: ${reply?.shown.evidence ?? "on its way"}`} onClick={() => change({ step: String(step) })}>
      <svg viewBox={`0 0 ${columns * cell} ${rows * cell}`} aria-hidden="true">
        {reply &&
          reply.queries.map((_, row) =>
            reply.keys.map((_key, column) => {
              const weight = valueAt(reply.weights, row, column);
              return weight < 0.01 ? null : (
                <rect key={`${row}-${column}`} x={column * cell} y={row * cell} width={cell} height={cell} fill={coloured(weights, weight, ground.value)} />
              );
            }),
          )}
      </svg>
      <span>{step}</span>
    </button>
  );
}

const largestRoom = 520;
const nothing = signal<Place | null>(null);

function Large({ site, layer, head, now }: { site: HeadsSite; layer: number; head: number; now: HeadReply | null }) {
  const pointed = useSignal<Place | null>(null);
  if (!now) return <div class="film-map" />;
  const shade = shadeOf(address.value.fields);
  return (
    <div class="film-map">
      <div class="matrix-title" title={`how much each token of ${site.site} reads from each`}>
        Layer {layer}, head {head}
        <small>{now.shown.word}</small>
      </div>
      <Heatmap
        {...headMap(now, shade)}
        room={largestRoom}
        crossed
        summary={`Layer ${layer}, head ${head}: ${summaryOf(now)}`}
        said={saidOf(now)}
        pointed={pointed}
        locked={nothing}
        onLock={() => undefined}
      />
      <p class="value-line">{pointed.value ? saidOf(now)(pointed.value) : "\u00a0"}</p>
      <Legend {...shadings[shade]} decimals={2} what="weights" onClick={() => change(nextShade(shade), "quiet")} />
    </div>
  );
}

function Says({ heads, step }: { heads: HeadsReply; step: number }) {
  const best = heads.says[0];
  if (!best) return null;
  return (
    <p class="says">
      After step {step}, at “{heads.asked}” it says{" "}
      {heads.says.slice(0, 3).map((one, n) => (
        <span key={n}>
          {n > 0 && ", "}
          <strong>{one.token}</strong> {one.share.toFixed(3)}
        </span>
      ))}
      .
    </p>
  );
}
