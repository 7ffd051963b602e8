// Learn: a run of qkv train, its curves, and its heads forming; and what was learnt before attention.

import type { Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { address, change } from "../../app/address";
import { useKeys } from "../../app/keys";
import type { Page, PageProps, Takings } from "../../app/page";
import { useTakings } from "../../app/use_takings";
import { lineChart } from "../../drawing/line_chart";
import type { LearnReply } from "../../engine/messages";
import { headKeys } from "../../parts/HeadPicker";
import { PageParts } from "../../parts/PageParts";
import { BottleneckPage } from "./bottleneck/Bottleneck";
import { Curves } from "./Curves";
import { openDesk, type Desk } from "./desk";
import { Film } from "./Film";
import { lossChart } from "./curves";
import { NewRun } from "./NewRun";
import { Runs } from "./Runs";
import { stepsOf } from "./state";
import "./learn.css";

export const learn: Page = { name: "learn", title: "Learn", View: LearnPage };

const parts = [
  { page: "learn", title: "A run", asks: "how do heads form?", View: RunPage },
  { page: "learn/bottleneck", title: "Bottleneck", asks: "what did attention change?", View: BottleneckPage },
] as const;

function LearnPage(props: PageProps) {
  const part = parts.find((one) => one.page === address.value.page) ?? parts[0];
  const shown = parts.filter((one) => one.page === part.page || one.page === "learn" || props.engine.answers("bottleneck", {}));
  return (
    <div class="learn-page">
      <PageParts parts={shown} part={part} />
      <part.View key={part.page} {...props} />
    </div>
  );
}

function RunPage({ engine, takings }: PageProps) {
  const desk = useMemo(() => openDesk(engine), [engine]);
  useEffect(() => desk.close, [desk]);
  useLearnKeys(desk);
  useRunTakings(desk, takings);
  const reply = desk.run.value;
  const train = reply && engine.answers("train", {}) && <NewRun engine={engine} reply={reply} />;
  return (
    <>
      {desk.error.value && (
        <p class="problem banner" role="alert">
          {desk.error.value} {desk.chosen.value.run && <a href="#/learn">The runs that are here</a>}
        </p>
      )}
      {reply && (
        <>
          {isEmpty(reply) && train}
          <Runs engine={engine} reply={reply} />
          {reply.run && <Curves desk={desk} reply={reply} />}
          {reply.run && reply.kept.length > 0 && <Film desk={desk} reply={reply} />}
          {!isEmpty(reply) && train}
          {isEmpty(reply) && engine.answers("bottleneck", {}) && (
            <p class="card">
              Two models that have learnt already:{" "}
              <a href="#/learn/bottleneck">what one vector holds of a text, and what attention changed</a>.
            </p>
          )}
        </>
      )}
    </>
  );
}

/** Nothing has learnt here yet: the page opens with something to tap. */
function isEmpty({ run, runs }: LearnReply): boolean {
  return !run && runs.length === 0;
}

/** Goes to the kept model before or after the one that is shown. */
function stepBy(desk: Desk, by: 1 | -1): void {
  const kept = desk.run.value?.kept ?? [];
  const now = kept.findIndex((one) => one.step === desk.model.value?.step);
  const next = kept[Math.min(Math.max(now + by, 0), kept.length - 1)];
  if (next) change({ step: String(next.step) }, "quiet");
}

function useLearnKeys(desk: Desk): void {
  useLayoutEffect(() => {
    const picker = () => {
      const { site, layer, head } = desk.chosen.value;
      const sites = desk.heads.value?.sites ?? [];
      const shown = sites.find((one) => one.site === site) ?? sites[0];
      return {
        layers: shown?.layers ?? 1,
        heads: shown?.heads ?? 1,
        chosen: { layer, head },
        onPick: (to: { layer: number; head: number }) => change({ head: `${shown?.site ?? "tokens"}.${to.layer}.${to.head}` }),
      };
    };
    return useKeys([
      { keys: ["ArrowRight", "n"], shown: "→ n", does: "the model after this one", run: () => stepBy(desk, 1), yields: true },
      { keys: ["ArrowLeft", "p"], shown: "← p", does: "the model before this one", run: () => stepBy(desk, -1), yields: true },
      ...headKeys(picker),
    ]);
  }, [desk]);
}

function csvOf(reply: LearnReply): string {
  const lines = stepsOf(reply).map((step, n) => [step, reply.loss.values[n], reply.gradient_norm.values[n], reply.rate.values[n]].join(","));
  return ["step,loss,gradient_norm,learning_rate", ...lines].join("\n") + "\n";
}

function useRunTakings(desk: Desk, takings: Signal<Takings | null>): void {
  const reply = desk.run.value;
  const step = desk.chosen.value.step;
  const taken = () => {
    const mark = step === null ? {} : { at: { x: step, name: `step ${step}` } };
    return reply?.run
      ? {
          name: `learn-${reply.run.task}`,
          drawing: () => lineChart({ ...lossChart(reply), width: 720, height: 240, ...mark }),
          table: { name: "loss", csv: () => csvOf(reply) },
        }
      : null;
  };
  useTakings(takings, taken, [reply, step]);
}
