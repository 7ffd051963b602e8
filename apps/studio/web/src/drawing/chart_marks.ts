// Lines over an axis, plain or logarithmic, as marks.

import { scaleLinear, scaleLog } from "d3-scale";
import type { Drawing, Mark, Paint } from "./marks";

export interface ChartLine {
  name: string;
  x: readonly number[];
  y: readonly number[];
  paint: Paint;
  dashed?: boolean;
  /** Drawn in steps, for values that jump. */
  steps?: boolean;
}

export interface ChartAxis {
  name: string;
  kind: "linear" | "log";
  /** Where its labels stand. */
  ticks: readonly number[];
  write: (value: number) => string;
}

export interface Chart {
  title: string;
  lines: readonly ChartLine[];
  x: ChartAxis;
  y: ChartAxis;
  /** An upright line, where the reader is. */
  at?: number | null;
  /** Names at the ends of lines; else letters, which the reader of values explains. */
  named: boolean;
}

type Along = (value: number) => number;

interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Along;
  y: Along;
}

const margin = { top: 30, right: 14, bottom: 40, left: 70 };
const nameWidth = 168;

function extent(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}

function along(axis: ChartAxis, values: readonly number[], range: [number, number]): Along {
  const shown = values.filter((value) => Number.isFinite(value) && (axis.kind === "linear" || value > 0));
  const domain = shown.length > 0 ? extent(shown) : ([0, 1] as [number, number]);
  if (domain[0] === domain[1]) domain[1] += 1;
  return axis.kind === "log" ? scaleLog(domain, range) : scaleLinear(domain, range);
}

export function chartFrame(chart: Chart, width: number, height: number): Frame {
  const right = width - margin.right - (chart.named && chart.lines.length > 1 ? nameWidth : 0);
  const [left, top, bottom] = [margin.left, margin.top, height - margin.bottom];
  const xs = chart.lines.flatMap((line) => [...line.x]);
  const ys = chart.lines.flatMap((line) => [...line.y]);
  const low = chart.y.kind === "linear" ? chart.y.ticks : [];
  return { left, right, top, bottom, x: along(chart.x, xs, [left, right]), y: along(chart.y, [...ys, ...low], [bottom, top]) };
}

export function chartDrawing(chart: Chart, width: number, height: number): Drawing {
  const frame = chartFrame(chart, width, height);
  return {
    width,
    height,
    title: chart.title,
    marks: [...axisMarks(chart, frame), ...atMarks(chart, frame), ...chart.lines.map((line) => lineMark(line, frame)), ...endMarks(chart, frame)],
  };
}

function axisMarks({ x, y }: Chart, { left, right, top, bottom, x: toX, y: toY }: Frame): Mark[] {
  const marks: Mark[] = [];
  for (const tick of y.ticks) {
    const at = toY(tick);
    if (at < top - 1 || at > bottom + 1) continue;
    marks.push({ kind: "line", points: [[left, at], [right, at]], stroke: "rule", thick: 1 });
    marks.push({ kind: "label", x: left - 8, y: at, text: y.write(tick), anchor: "end", size: 12, fill: "soft" });
  }
  for (const tick of x.ticks) {
    const at = toX(tick);
    if (at < left - 1 || at > right + 1) continue;
    marks.push({ kind: "line", points: [[at, bottom], [at, bottom + 4]], stroke: "soft", thick: 1 });
    marks.push({ kind: "label", x: at, y: bottom + 14, text: x.write(tick), anchor: "middle", size: 12, fill: "soft" });
  }
  marks.push({ kind: "line", points: [[left, bottom], [right, bottom]], stroke: "soft", thick: 1 });
  marks.push({ kind: "label", x: right, y: bottom + 31, text: x.name, anchor: "end", size: 12, fill: "soft" });
  marks.push({ kind: "label", x: 4, y: 10, text: y.name, size: 12, fill: "soft" });
  return marks;
}

function atMarks({ at, lines }: Chart, { top, bottom, x, y }: Frame): Mark[] {
  if (at === undefined || at === null) return [];
  const marks: Mark[] = [{ kind: "line", points: [[x(at), top], [x(at), bottom]], stroke: "ink", thick: 1, dashed: true }];
  for (const line of lines) {
    const n = line.x.indexOf(at);
    const value = line.y[n];
    if (value !== undefined) marks.push({ kind: "disc", x: x(at), y: y(value), radius: 4.5, fill: line.paint });
  }
  return marks;
}

function lineMark(line: ChartLine, { x, y }: Frame): Mark {
  const points: [number, number][] = [];
  line.x.forEach((value, n) => {
    const here = line.y[n];
    if (here === undefined || !Number.isFinite(y(here))) return;
    const before = points.at(-1);
    if (line.steps && before) points.push([x(value), before[1]]);
    points.push([x(value), y(here)]);
  });
  return { kind: "line", points, stroke: line.paint, thick: 2.5, ...(line.dashed ? { dashed: true } : {}) };
}

const letters = "abcdefghij";

export function letterOf(line: number): string {
  return letters[line] ?? "";
}

// Names beside the ends of lines, moved apart where they would lie on each other.
function endMarks(chart: Chart, { right, top, y }: Frame): Mark[] {
  if (chart.lines.length < 2) return [];
  const apart = 16;
  const ends = chart.lines
    .map((line, n) => ({ line, n, at: y(line.y.at(-1) ?? 0) }))
    .sort((a, b) => a.at - b.at);
  let last = top - apart;
  return ends.map(({ line, n, at }) => {
    last = Math.max(at, last + apart);
    const text = chart.named ? line.name : letterOf(n);
    return { kind: "label", x: right + 6, y: last, text, size: 12, fill: line.paint, bold: !chart.named } satisfies Mark;
  });
}

/** Which of the x of the first line lies nearest to a point of the drawing. */
export function nearestIndex(chart: Chart, frame: Frame, x: number): number {
  const xs = chart.lines[0]?.x ?? [];
  let best = 0;
  xs.forEach((value, n) => {
    if (Math.abs(frame.x(value) - x) < Math.abs(frame.x(xs[best]!) - x)) best = n;
  });
  return best;
}

/** Round numbers from least to most, for a plain axis. */
export function roundTicks(least: number, most: number, count: number): number[] {
  return scaleLinear([least, most], [0, 1]).ticks(count);
}

/** Powers of `base` between two numbers, at most `most` of them. */
export function powerTicks(least: number, most: number, base: number, count: number): number[] {
  const first = Math.ceil(Math.log(least) / Math.log(base) - 1e-9);
  const last = Math.floor(Math.log(most) / Math.log(base) + 1e-9);
  const step = Math.max(Math.ceil((last - first + 1) / count), 1);
  return Array.from({ length: Math.max(Math.floor((last - first) / step) + 1, 0) }, (_, n) => base ** (first + n * step));
}
