// Above the pictures: the flow, the rail with Play, the direction, and whose question it is.

import { useEffect } from "preact/hooks";
import { address, type Fields } from "../../app/address";
import { narrow } from "../../app/theme";
import type { BenchReply } from "../../engine/messages";
import { FlowStrip, type FlowStop } from "../../parts/FlowStrip";
import { StepRail } from "../../parts/StepRail";
import type { Bench } from "./bench";
import { holdTime } from "./motion";
import { isFromModel, queryChange } from "./state";
import { innerStop, nextStop } from "./stops";

const flowNames: Readonly<Record<string, string>> = {
  raw: "scores QKᵀ",
  scaled: "÷ √d",
  softcapped: "softcap",
  biased: "+ bias",
  masked: "mask",
  weights: "softmax α",
  out: "× V = y",
  output: "heads · Wₒ",
};
const backNames: Readonly<Record<string, string>> = {
  d_out: "dY",
  d_v: "dV",
  d_weights: "dP",
  d_scores: "dS",
  d_raw: "÷ √d",
  d_q: "dQ",
  d_k: "dK",
  d_x: "dX",
};

function flowStops(reply: BenchReply, backward: boolean): FlowStop[] {
  const steps = backward ? reply.back : reply.steps;
  const names = backward ? backNames : flowNames;
  const words = reply.queries.length > 6 ? `${reply.queries.length} words` : reply.queries.join(" ");
  const stops: FlowStop[] = backward ? [] : [{ label: words, detail: "the words", at: 0 }];
  const has = (name: string) => reply.matrices.some((matrix) => matrix.name === name);
  if (!backward && has("embedded")) stops.push({ label: "E + P = X", detail: "a vector for each word, and for its place", at: 0 });
  const inputs = has("x") ? "X · W = Q K V" : "Q K V";
  if (!backward) stops.push({ label: inputs, detail: "three vectors for each word", at: 0 });
  steps.forEach((step, n) => {
    for (const name of step.made) if (names[name]) stops.push({ label: names[name], detail: step.title, at: n + 1 });
  });
  return stops;
}

export function Bar({ bench, reply }: { bench: Bench; reply: BenchReply }) {
  const { motion, stops, stop, backward, playing } = bench;
  usePlay(bench);
  const steps = stops.value.filter((one) => !one.inner).length - 1;
  const goTo = (at: number) => {
    const to = stops.value.find((one) => !one.inner && one.at === at);
    if (to) bench.go(to);
  };
  return (
    <section class="step-bar" aria-label="Steps">
      <div class="flow-row">
        <FlowStrip
          stops={flowStops(reply, backward.value)}
          position={stop.value.at}
          backward={backward.value}
          onGo={goTo}
        />
        <Queries bench={bench} reply={reply} />
      </div>
      <div class="rail-row">
        <PlayButtons bench={bench} steps={steps} />
        <StepRail
          stops={stops.value}
          position={motion.position}
          label={backward.value ? "Steps back" : "Steps"}
          onLeave={(at) => {
            playing.value = false;
            motion.held.value = true;
            motion.position.value = at;
          }}
          onArrive={(to) => {
            bench.go(stops.value.find((one) => one.at === to.at && one.inner === to.inner) ?? stop.value);
            motion.held.value = false;
          }}
        />
        <Direction bench={bench} />
      </div>
    </section>
  );
}

// Rests at each stop, so that its sentence can be read.
function usePlay({ playing, advance, stop, stops }: Bench): void {
  useEffect(() => {
    if (!playing.value) return;
    const timer = setTimeout(() => (playing.value = advance()), stop.value.at === 0 ? 100 : holdTime);
    return () => clearTimeout(timer);
  }, [playing.value, stop.value.key, stops.value.length]);
}

function PlayButtons({ bench, steps }: { bench: Bench; steps: number }) {
  const { stop, stops, playing, backward } = bench;
  const at = stop.value;
  const isLast = nextStop(stops.value, at, 1) === at;
  const inner = innerStop(stops.value, at);
  const play = () => {
    const [first] = stops.value;
    if (isLast && first) bench.go(first);
    playing.value = !playing.value;
  };
  return (
    <div class="play">
      <button type="button" class="icon" aria-label="Step back" disabled={at.at === 0} onClick={() => bench.move(-1)}>
        ‹
      </button>
      <button type="button" class="main" onClick={play}>
        {playing.value ? "Pause" : isLast ? "Again" : "Play"}
      </button>
      <button type="button" class="icon" aria-label="Next step" disabled={isLast} onClick={() => bench.move(1)}>
        ›
      </button>
      {isEdited(address.value.fields) && bench.can(reset(address.value.fields)) && (
        <button
          type="button"
          class={narrow.value ? "icon" : "plain small"}
          aria-label="Reset"
          title="Back to the chapter’s figure"
          onClick={() => bench.apply(reset(address.value.fields))}
        >
          {narrow.value ? "↺" : "Reset"}
        </button>
      )}
      <span class="play-at">
        {backward.value ? "Back" : "Step"} {at.key.split(".")[0]}/{steps}
      </span>
      <button
        type="button"
        class={`plain small inner-toggle ${inner && at.at > 0 ? "" : "absent"}`}
        aria-pressed={at.inner}
        onClick={at.inner ? bench.leave : bench.enter}
      >
        {at.inner ? "whole step" : "in parts"}
      </button>
    </div>
  );
}

// Where one stands is no edit, nor is what a model reads.
const kept = ["step", "pin", "q", "back", "shade", "model", "head", "seed", "heads", "kv_heads", "d_model", "d_k", "d_v", "positions"];
const ofModel = ["text", "context", "example"];

function edits(fields: Fields): string[] {
  const isReal = isFromModel(fields);
  return Object.keys(fields).filter((name) => (ofModel.includes(name) ? !isReal : !kept.includes(name)));
}

function isEdited(fields: Fields): boolean {
  return edits(fields).length > 0;
}

function reset(fields: Fields): Record<string, string | null> {
  return { ...Object.fromEntries(edits(fields).map((name) => [name, null])), step: null, pin: null };
}

function Direction({ bench }: { bench: Bench }) {
  const back = bench.backward.value;
  const choose = (backward: boolean) => {
    if (backward !== back)
      bench.apply(backward ? { back: "1", step: null } : { back: null, dY: null, nudge: null, step: null });
  };
  if (!back && !bench.can({ back: "1" })) return null;
  return (
    <div class="segmented" role="group" aria-label="Direction">
      <button type="button" aria-pressed={!back} onClick={() => choose(false)}>
        Forward
      </button>
      <button type="button" aria-pressed={back} onClick={() => choose(true)}>
        Backward
      </button>
    </div>
  );
}

const mostButtons = 10;

function Queries({ bench, reply }: { bench: Bench; reply: BenchReply }) {
  if (reply.queries.length > mostButtons) {
    return (
      <label class="queries">
        <span>who looks?</span>
        <select
          value={String(reply.query)}
          onChange={(event) => bench.apply({ q: queryChange(Number(event.currentTarget.value)), pin: null })}
        >
          {reply.queries.map((word, n) => (
            <option key={n} value={String(n)}>
              {n}: {word}
            </option>
          ))}
        </select>
      </label>
    );
  }
  return (
    <div class="queries" role="group" aria-label="Whose row is explained">
      <span aria-hidden="true">who looks?</span>
      {reply.queries.map((word, n) => (
        <button
          key={n}
          type="button"
          aria-pressed={n === reply.query}
          disabled={!bench.can({ q: queryChange(n) })}
          onClick={() => bench.apply({ q: queryChange(n), pin: null })}
        >
          {word}
        </button>
      ))}
    </div>
  );
}
