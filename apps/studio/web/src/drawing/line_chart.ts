// Lines over an axis as marks: curves of a training run, costs over the length.

import { scaleLinear, scaleLog } from "d3-scale";
import type { Drawing, Mark, Paint } from "./marks";

export interface ChartAxis {
  name: string;
  logarithmic?: boolean;
  /** The ends; those of the points where they are left out. */
  least?: number;
  most?: number;
  /** Where it is labelled; at round numbers where they are left out. */
  ticks?: readonly number[];
  /** How a tick is written; in few digits where it is left out. */
  written?: (value: number) => string;
}

export interface ChartLine {
  name: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  paint: Paint;
  dashed?: boolean;
  /** Its points have a dot each. */
  dotted?: boolean;
  /** It jumps from point to point. */
  steps?: boolean;
}

export interface Chart {
  title: string;
  width: number;
  height: number;
  x: ChartAxis;
  y: ChartAxis;
  lines: readonly ChartLine[];
  /** Where the names of several lines stand: above the axes, beside their ends, or there as letters. */
  names?: "above" | "ends" | "letters";
  /** A place on the x axis that is looked at; with dots on the lines that have a point there. */
  at?: { x: number; name: string; dots?: boolean };
}

export interface PlacedChart extends Drawing {
  /** The x of a place in the drawing, within the axis. */
  valueAt(pixel: number): number;
}

const margin = { left: 52, right: 14, top: 22, bottom: 38 };
const small = 12;
const letterWide = 0.6 * small;

interface Room {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

// The labels of the y axis and names beside the lines need room.
function roomOf(chart: Chart, yTicks: readonly number[]): Room {
  const widest = Math.max(0, ...yTicks.map((tick) => writtenOn(chart.y, tick).length)) * letterWide;
  const longest = Math.max(0, ...chart.lines.map((line) => line.name.length)) * letterWide;
  const beside = chart.lines.length < 2 ? 0 : chart.names === "ends" ? longest : chart.names === "letters" ? 2 * letterWide : 0;
  return { left: Math.max(margin.left, widest + 12), right: chart.width - margin.right - beside, top: margin.top, bottom: chart.height - margin.bottom };
}

function writtenOn(axis: ChartAxis, value: number): string {
  return (axis.written ?? fewDigits)(value);
}

function fewDigits(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9) return `${plain(value / 1e9)} G`;
  if (size >= 1e6) return `${plain(value / 1e6)} M`;
  if (size >= 1e4) return `${plain(value / 1e3)} k`;
  return plain(value);
}

function plain(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function finite(values: ArrayLike<number>, above: number): number[] {
  return Array.from(values).filter((value) => Number.isFinite(value) && value > above);
}

function endsOf(axis: ChartAxis, all: readonly ArrayLike<number>[]): [number, number] {
  const above = axis.logarithmic ? 0 : -Infinity;
  let least = axis.least ?? Infinity;
  let most = axis.most ?? -Infinity;
  for (const values of all) {
    for (const value of finite(values, above)) {
      if (axis.least === undefined) least = Math.min(least, value);
      if (axis.most === undefined) most = Math.max(most, value);
    }
  }
  if (!Number.isFinite(least) || !Number.isFinite(most)) return axis.logarithmic ? [1, 10] : [0, 1];
  if (least === most) return axis.logarithmic ? [least / 2, most * 2] : [least - 0.5, most + 0.5];
  return [least, most];
}

function scaleOf(axis: ChartAxis, all: readonly ArrayLike<number>[], range: [number, number]) {
  const scale = axis.logarithmic ? scaleLog() : scaleLinear();
  return scale.domain(endsOf(axis, all)).range(range);
}

type Scale = ReturnType<typeof scaleOf>;

/** Ticks that are written: of a logarithmic axis powers of ten, or of two where there are fewer than two of them. */
function ticksOf(scale: Scale, axis: ChartAxis, count: number): readonly number[] {
  if (axis.ticks) return axis.ticks;
  if (!axis.logarithmic) return scale.ticks(count);
  const [least = 1, most = 10] = scale.domain();
  const powers = (base: number) => {
    const from = Math.ceil(Math.log(least) / Math.log(base) - 1e-9);
    const to = Math.floor(Math.log(most) / Math.log(base) + 1e-9);
    const step = Math.max(1, Math.ceil((to - from + 1) / count));
    return Array.from({ length: Math.max(0, Math.floor((to - from) / step) + 1) }, (_, n) => base ** (from + n * step));
  };
  const tens = powers(10);
  return tens.length >= 2 ? tens : powers(2);
}

/** Runs of points that can be drawn: a point that is not finite leaves a gap. */
function runsOf(line: ChartLine, x: Scale, y: Scale, logarithmic: boolean): [number, number][][] {
  const runs: [number, number][][] = [[]];
  for (let n = 0; n < Math.min(line.x.length, line.y.length); ++n) {
    const at = Number(line.x[n]);
    const value = Number(line.y[n]);
    if (!Number.isFinite(value) || (logarithmic && value <= 0)) {
      runs.push([]);
      continue;
    }
    const run = runs.at(-1)!;
    const before = run.at(-1);
    if (line.steps && before) run.push([x(at) as number, before[1]]);
    run.push([x(at) as number, y(value) as number]);
  }
  return runs.filter((run) => run.length > 0);
}

function lineMarks(line: ChartLine, x: Scale, y: Scale, logarithmic: boolean): Mark[] {
  const marks: Mark[] = [];
  for (const points of runsOf(line, x, y, logarithmic)) {
    if (points.length > 1) marks.push({ kind: "line", points, stroke: line.paint, thick: 2, ...(line.dashed && { dashed: true }) });
    if (line.dotted || points.length === 1) {
      for (const [px, py] of points) marks.push({ kind: "disc", x: px, y: py, radius: 3, fill: line.paint });
    }
  }
  return marks;
}

function axisMarks(chart: Chart, x: Scale, y: Scale, { left, right, bottom }: Room, yTicks: readonly number[]): Mark[] {
  const marks: Mark[] = [];
  const inside = (value: number, scale: Scale) => {
    const [least = 0, most = 1] = scale.domain();
    return value >= least && value <= most;
  };
  for (const tick of yTicks) {
    if (!inside(tick, y)) continue;
    const at = y(tick) as number;
    marks.push({ kind: "line", points: [[left, at], [right, at]], stroke: "rule", thick: 1 });
    marks.push({ kind: "label", x: left - 6, y: at, text: writtenOn(chart.y, tick), size: small, anchor: "end", fill: "soft" });
  }
  for (const tick of ticksOf(x, chart.x, Math.max(2, Math.round(chart.width / 90)))) {
    if (!inside(tick, x)) continue;
    const at = x(tick) as number;
    marks.push({ kind: "line", points: [[at, bottom], [at, bottom + 4]], stroke: "soft", thick: 1 });
    marks.push({ kind: "label", x: at, y: bottom + 13, text: writtenOn(chart.x, tick), size: small, anchor: "middle", fill: "soft" });
  }
  marks.push({ kind: "line", points: [[left, bottom], [right, bottom]], stroke: "soft", thick: 1 });
  marks.push({ kind: "label", x: (left + right) / 2, y: chart.height - 8, text: chart.x.name, size: small, anchor: "middle", fill: "soft" });
  marks.push({ kind: "label", x: Math.max(2, Math.min(left, chart.width - chart.y.name.length * letterWide)), y: 9, text: chart.y.name, size: small, anchor: "start", fill: "soft" });
  return marks;
}

/** Names in the colours of their lines; none where there is one line alone. */
function nameMarks(chart: Chart, y: Scale, room: Room): Mark[] {
  if (chart.lines.length < 2) return [];
  return chart.names === undefined || chart.names === "above" ? namesAbove(chart) : namesAtEnds(chart, y, room);
}

export function letterOf(line: number): string {
  return "abcdefghijklmnopqrstuvwxyz"[line] ?? "";
}

const apart = 16; // pixels between names

function namesAtEnds(chart: Chart, y: Scale, { right, top }: Room): Mark[] {
  const ends = chart.lines.map((line, n) => ({ line, n, at: y(Number(line.y[line.y.length - 1])) as number }));
  let last = top - apart;
  return ends
    .sort((a, b) => a.at - b.at)
    .map(({ line, n, at }) => {
      last = Math.max(at, last + apart);
      const text = chart.names === "letters" ? letterOf(n) : line.name;
      return { kind: "label", x: right + 6, y: last, text, size: small, fill: line.paint, bold: chart.names === "letters" };
    });
}

function namesAbove(chart: Chart): Mark[] {
  const marks: Mark[] = [];
  let right = chart.width - margin.right;
  for (const line of [...chart.lines].reverse()) {
    marks.push({ kind: "label", x: right, y: 9, text: line.name, size: small, anchor: "end", fill: line.paint, bold: true });
    right -= line.name.length * letterWide + 14;
  }
  return marks;
}

function placeMarks(chart: Chart, x: Scale, y: Scale, { right, top, bottom }: Room): Mark[] {
  if (!chart.at) return [];
  const { name, dots, x: here } = chart.at;
  const at = x(here) as number;
  const nearRight = at > right - 80;
  const marks: Mark[] = [{ kind: "line", points: [[at, top - 4], [at, bottom]], stroke: "accent", thick: dots ? 1 : 2 }];
  for (const line of dots ? chart.lines : []) {
    const value = Number(line.y[Array.from(line.x).indexOf(here)]);
    if (Number.isFinite(value)) marks.push({ kind: "disc", x: at, y: y(value) as number, radius: 4.5, fill: line.paint });
  }
  if (name) marks.push({ kind: "label", x: at + (nearRight ? -6 : 6), y: top + 15, text: name, size: small, anchor: nearRight ? "end" : "start", fill: "accent", bold: true, halo: true });
  return marks;
}

export function lineChart(chart: Chart): PlacedChart {
  const xs = chart.lines.map((line) => line.x);
  const y = scaleOf(chart.y, chart.lines.map((line) => line.y), [chart.height - margin.bottom, margin.top]);
  const yTicks = ticksOf(y, chart.y, Math.max(2, Math.round(chart.height / 60)));
  const room = roomOf(chart, yTicks);
  const x = scaleOf(chart.x, chart.at ? [...xs, [chart.at.x]] : xs, [room.left, room.right]);
  const lines = chart.lines.flatMap((line) => lineMarks(line, x, y, chart.y.logarithmic === true));
  return {
    width: chart.width,
    height: chart.height,
    title: chart.title,
    marks: [...axisMarks(chart, x, y, room, yTicks), ...lines, ...nameMarks(chart, y, room), ...placeMarks(chart, x, y, room)],
    valueAt: (pixel) => x.invert(Math.min(Math.max(pixel, room.left), room.right)),
  };
}
