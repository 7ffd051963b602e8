// Step by step: one head of attention on a bench, every number to be seen, asked, changed.

import type { Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { address } from "../../app/address";
import { startOf } from "../../app/starts";
import { useKeys } from "../../app/keys";
import type { Page, PageProps, Takings } from "../../app/page";
import { ground } from "../../app/theme";
import { useTakings } from "../../app/use_takings";
import type { Drawing } from "../../drawing/marks";
import type { BenchReply } from "../../engine/messages";
import { Cautions } from "../../parts/Cautions";
import { parsedName, pinned, useLinks } from "../../parts/links";
import { Bar } from "./Bar";
import { Board } from "./Board";
import { InCode } from "./InCode";
import { Inputs } from "./Inputs";
import { NumberPanel } from "./Number";
import { Pictures } from "./pictures/Pictures";
import { Planes } from "./Planes";
import { RunsOn } from "./RunsOn";
import { Tables } from "./Tables";
import { Wrong } from "./Wrong";
import { inTheirPlace, openBench, type Bench } from "./bench";
import { stepDrawing } from "./figure";
import { csvOf, matrixOf } from "./matrices";
import { benchRequest, defaults, explainCommand, textChanges, textOf, usesX } from "./state";
import "./step.css";
import "./bar.css";
import "./board.css";
import "./inputs.css";
import "./tables.css";
import "./wrong.css";

export const step: Page = {
  name: "step",
  title: "Step",
  View: StepPage,
  text: {
    label: "Words",
    value: (fields) => fields["text"] ?? defaults.text,
    isOpen: (engine, fields) => engine.answers("bench", benchRequest({ ...fields, text: "another" })),
    change: (fields, text) => textChanges(fields, text || defaults.text),
  },
};

function StepPage({ engine, takings }: PageProps) {
  const bench = useMemo(() => openBench(engine), [engine]);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => bench.close, [bench]);
  useLinks(root, bench.pin);
  useStepKeys(bench);
  useStepTakings(bench, takings);

  const reply = bench.asked.reply.value;
  return (
    <div
      ref={root}
      class={`step-page ${bench.asked.waiting.value ? "waiting" : ""}`}
      aria-busy={bench.asked.waiting.value}
    >
      <h1 class="said">Attention, step by step</h1>
      <Problems bench={bench} />
      <Cautions of={[reply?.cautions]} />
      {reply ? (
        <>
          <Bar bench={bench} reply={reply} />
          <div class="desk">
            <Inputs bench={bench} reply={reply} />
            <Board bench={bench} reply={reply} />
            <div class="aside">
              <div class="aside-stays">
                <Planes bench={bench} reply={reply} />
                <NumberPanel bench={bench} reply={reply} />
                <RunsOn bench={bench} reply={reply} />
              </div>
            </div>
            <Tables bench={bench} reply={reply} />
            <div class="below">
              <Pictures bench={bench} reply={reply} />
              <Wrong bench={bench} reply={reply} />
              <InCode bench={bench} />
            </div>
          </div>
        </>
      ) : (
        !bench.asked.error.value && !bench.asked.gone.value && <p class="first-wait">Laying out the bench …</p>
      )}
    </div>
  );
}

function Problems({ bench }: { bench: Bench }) {
  const gone = bench.asked.gone.value;
  const error = bench.asked.error.value;
  if (gone)
    return (
      <p class="problem banner" role="alert">
        {gone.message}
      </p>
    );
  if (!error || (inTheirPlace.includes(error.field) && bench.asked.reply.value)) return null;
  return (
    <p class="problem banner" role="alert">
      {error.field && !error.message.includes(error.field) && `${error.field}: `}
      {error.message}{" "}
      {bench.asked.reply.value ? (
        <button type="button" class="plain small" onClick={() => history.back()}>
          Undo
        </button>
      ) : (
        <button type="button" class="plain small" onClick={() => (location.hash = startOf(step))}>
          {bench.isLive ? "Start with the chapter’s figure" : "Show what this file holds"}
        </button>
      )}
    </p>
  );
}

function useStepKeys(bench: Bench): void {
  useLayoutEffect(() => {
    const step = (direction: 1 | -1) => () => bench.move(direction);
    const back = () => {
      const on = bench.backward.value;
      bench.apply(on ? { back: null, dY: null, nudge: null, step: null } : { back: "1", step: null });
    };
    return useKeys([
      { keys: ["ArrowRight"], shown: "→", does: "next step; in a matrix, the next cell", run: step(1), yields: true },
      { keys: ["ArrowLeft"], shown: "←", does: "step back; in a matrix, the cell before", run: step(-1), yields: true },
      { keys: ["n"], shown: "n", does: "next step, wherever you are", run: step(1) },
      { keys: ["p"], shown: "p", does: "step back, wherever you are", run: step(-1) },
      { keys: ["ArrowDown"], shown: "↓", does: "the step in parts", run: bench.enter, yields: true },
      { keys: ["ArrowUp"], shown: "↑", does: "the whole step", run: bench.leave, yields: true },
      { keys: [" "], shown: "Space", does: "play, pause", run: () => (bench.playing.value = !bench.playing.value) },
      { keys: ["b"], shown: "b", does: "backward, forward", run: back },
      { keys: ["Escape"], shown: "Esc", does: "let go of the number", run: () => bench.pin(null) },
    ]);
  }, [bench]);
}

function made(reply: BenchReply): Record<"Q" | "K" | "V", string> {
  const text = (name: string) => {
    const matrix = matrixOf(reply, name);
    return matrix ? textOf(matrix.values) : "";
  };
  return { Q: text("q"), K: text("k"), V: text("v") };
}

function useStepTakings(bench: Bench, takings: Signal<Takings | null>): void {
  const reply = bench.asked.reply.value;
  const pin = pinned.value;
  const { fields } = address.value;
  const takingsNow = () => {
    if (!reply) return undefined;
    const matrix = matrixOf(reply, parsedName(pin ?? "")?.matrix ?? "weights");
    const taken: Takings = { name: "attention", drawing: (): Drawing => stepDrawing(bench, reply, ground.value) };
    taken.command = explainCommand(fields, usesX(fields) ? made(reply) : null);
    if (matrix) taken.table = { name: matrix.name, csv: () => csvOf(matrix), array: () => matrix.values };
    return taken;
  };
  useTakings(takings, takingsNow, [reply, pin, fields]);
}
