// The curves of a run as charts: loss, and the share of right answers.

import type { ChartAxis } from "../../drawing/line_chart";
import type { LearnReply } from "../../engine/messages";
import type { LineChartProps } from "../../parts/LineChart";
import { stepsOf } from "./state";

function steps(reply: LearnReply): ChartAxis {
  return { name: "step", least: 0, most: Math.max(reply.run?.steps ?? 1, 1) };
}

export function lossChart(reply: LearnReply): LineChartProps["chart"] {
  const examined = reply.examined.filter((one) => one.loss !== null);
  return {
    title: "Loss over the steps",
    x: steps(reply),
    y: { name: "loss, nats", least: 0 },
    lines: [
      { name: "batches", x: stepsOf(reply), y: reply.loss.values as Float64Array, paint: "k" },
      { name: "held out", x: examined.map((one) => one.step), y: examined.map((one) => one.loss ?? NaN), paint: "q", dotted: true },
    ],
  };
}

export function accuracyChart(reply: LearnReply): LineChartProps["chart"] {
  const x = reply.examined.map((one) => one.step);
  const goal = reply.goal;
  return {
    title: "Right answers over the steps",
    x: steps(reply),
    y: { name: "right, held out", least: 0, most: 1, written: (value) => `${Math.round(value * 100)} %` },
    lines: [
      { name: "right", x, y: reply.examined.map((one) => one.accuracy), paint: "v", dotted: true },
      ...(goal === null ? [] : [{ name: "goal", x: [0, reply.run?.steps ?? 1], y: [goal, goal], paint: "soft" as const, dashed: true }]),
    ],
  };
}
