// The curves of a run as charts: loss, and the share of right answers.

import { lineChart, type ChartAxis, type PlacedChart } from "../../drawing/line_chart";
import type { LearnReply } from "../../engine/messages";
import { stepsOf } from "./state";

const tall = 190;

function steps(reply: LearnReply): ChartAxis {
  return { name: "step", least: 0, most: Math.max(reply.run?.steps ?? 1, 1) };
}

function at(step: number | null): { at: { x: number; name: string } } | object {
  return step === null ? {} : { at: { x: step, name: `step ${step}` } };
}

export function lossChart(reply: LearnReply, width: number, step: number | null): PlacedChart {
  const examined = reply.examined.filter((one) => one.loss !== null);
  return lineChart({
    title: "Loss over the steps",
    width,
    height: tall,
    x: steps(reply),
    y: { name: "loss, nats", least: 0 },
    lines: [
      { name: "batches", x: stepsOf(reply), y: reply.loss.values as Float64Array, paint: "k" },
      { name: "held out", x: examined.map((one) => one.step), y: examined.map((one) => one.loss ?? NaN), paint: "q", dotted: true },
    ],
    ...at(step),
  });
}

export function accuracyChart(reply: LearnReply, width: number, step: number | null): PlacedChart {
  const x = reply.examined.map((one) => one.step);
  const goal = reply.goal;
  return lineChart({
    title: "Right answers over the steps",
    width,
    height: tall,
    x: steps(reply),
    y: { name: "right, held out", least: 0, most: 1, written: (value) => `${Math.round(value * 100)} %` },
    lines: [
      { name: "right", x, y: reply.examined.map((one) => one.accuracy), paint: "v", dotted: true },
      ...(goal === null ? [] : [{ name: "goal", x: [0, reply.run?.steps ?? 1], y: [goal, goal], paint: "soft" as const, dashed: true }]),
    ],
    ...at(step),
  });
}
