// The picture of a step as marks: a column for each key, whose heights are dot products, scores, powers of e and
// weights in turn, and the strip of length 1 that the weights cut.

import { coloured, textColourOn, type Scale } from "../../drawing/colour";
import { shortened } from "../../drawing/heatmap_layout";
import { hatch, type Drawing, type Mark } from "../../drawing/marks";
import { shown } from "../../drawing/numbers";
import type { Ground } from "../../drawing/palette";
import type { BenchMatrix, BenchReply } from "../../engine/messages";
import { rowOf } from "../../engine/tensor";
import { nameOf } from "../../parts/links";
import { finalScores, isHidden, matrixOf, scaleOf, weightTotal } from "./matrices";

const top = 40;
const tall = 130;
const base = top + tall;
const wordsAt = base + 18;
const tagsAt = wordsAt + 20;
const stripAt = base + 62;
const stripTall = 30;
const boardHeight = stripAt + stripTall + 26;
const shortHeight = tagsAt + 14; // without the strip

/** The word below a column, as long as its slot has room for. */
function wordMark(word: string, x: number, y: number, slot: number, bold = false): Mark {
  const size = slot > 60 ? 16 : 12;
  const text = shortened(word, Math.max(Math.floor(slot / (size * 0.62)), 2));
  return { kind: "label", x, y, text, anchor: "middle", size, bold };
}

/** How far a phase from `from` to `to` of the rail has come, in [0, 1]. */
export function phase(position: number, from: number, to: number): number {
  return Math.min(Math.max((position - from) / (to - from), 0), 1);
}

function mix(a: number, b: number, t: number): number {
  return a + (b - a) * t;
}

/** One matrix row as columns of the picture. */
interface Row {
  matrix: BenchMatrix;
  row: number;
  values: number[];
  scale: Scale | null;
}

function rowIn(reply: BenchReply, matrix: BenchMatrix | null): Row | null {
  if (!matrix) return null;
  const row = reply.query - matrix.first_row;
  return { matrix, row, values: rowOf(matrix.values, row), scale: scaleOf(reply, matrix) };
}

interface Column {
  upper: number; // y
  lower: number;
  from: Row; // whose number stands above, and whose colour it takes
  opacity: number;
}

interface Span {
  unit: number; // pixels of 1
  zero: number; // y
}

function spanOf(rows: readonly Row[]): Span {
  const values = rows.flatMap((row) => row.values).filter(Number.isFinite);
  const low = Math.min(0, ...values);
  const high = Math.max(0, ...values);
  const unit = high > low ? tall / (high - low) : tall;
  return { unit, zero: base + low * unit };
}

interface Stage {
  reply: BenchReply;
  position: number;
  raw: Row;
  scores: Row;
  exp: Row | null;
  weights: Row;
  most: number;
  span: Span;
}

/** The column of one key at a position of the forward rail. */
function columnAt(stage: Stage, key: number): Column | null {
  const { position, raw, scores, weights, span } = stage;
  const y = (value: number) => span.zero - value * span.unit;
  const of = (row: Row) => row.values[key] ?? NaN;
  if (position <= 1) return null;
  if (position <= 2) return between(y(0), y(of(raw) * phase(position, 1, 2)), raw, phase(position, 1, 1.3));
  const t = phase(position, 2, 3);
  if (position <= 3)
    return between(y(0), y(mix(of(raw), Number.isFinite(of(scores)) ? of(scores) : 0, t)), t < 0.5 ? raw : scores, 1);
  const exp = stage.exp ?? weights;
  const floor = y(mix(0, stage.most, phase(position, 3, 3.25)));
  const hanging = [floor, y(of(scores))] as const;
  if (position <= 3.25) return between(...hanging, scores, 1);
  const up = phase(position, 3.25, 3.5);
  if (position < 3.5)
    return between(mix(hanging[0], base, up), mix(hanging[1], base - of(exp) * tall, up), up < 0.5 ? scores : exp, 1);
  const cut = phase(position, 3.75, 4);
  return between(base, base - mix(of(exp), of(weights), cut) * tall, cut < 0.5 ? exp : weights, 1);
}

function between(a: number, b: number, from: Row, opacity: number): Column | null {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return null;
  return { upper: Math.min(a, b), lower: Math.max(a, b), from, opacity };
}

function columnMarks(column: Column, key: number, x: number, width: number, ground: Ground): Mark[] {
  const { matrix, row, scale } = column.from;
  const value = column.from.values[key] ?? NaN;
  const fill = scale && Number.isFinite(value) ? coloured(scale, value, ground) : "accent";
  const name = nameOf(matrix.name, matrix.first_row + row, key);
  const height = Math.max(column.lower - column.upper, 1.5);
  const { opacity } = column;
  const text = shown(value, matrix.decimals);
  const label: Mark = {
    kind: "label",
    x,
    y: column.upper - 11,
    text,
    anchor: "middle",
    size: width > 40 ? 15 : 12,
    bold: true,
    opacity,
    name,
  };
  return [
    {
      kind: "box",
      x: x - width / 2,
      y: column.upper,
      width,
      height,
      fill,
      stroke: "soft",
      thick: 0.75,
      radius: 2,
      opacity,
      name,
    },
    ...(width > 28 ? [label] : []),
  ];
}

const heavy = 0.1; // a weight that is named where there is no room to name all

function heavyMarks({ reply, weights }: Stage, column: Column, key: number, x: number, width: number): Mark[] {
  const weight = weights.values[key] ?? 0;
  if (!(weight > heavy)) return [];
  const text = `${reply.keys[key] ?? ""} ${shown(weight, weights.matrix.decimals)}`;
  const anchor = x < width * 0.15 ? "start" : x > width * 0.85 ? "end" : "middle";
  return [{ kind: "label", x, y: column.upper - 11, text, anchor, size: 14, bold: true, halo: true }];
}

function tuple(matrix: BenchMatrix, row: number): string | null {
  const values = rowOf(matrix.values, row);
  return values.length <= 3 ? `(${values.map((value) => shown(value, matrix.decimals)).join(", ")})` : null;
}

// What stands below a word: its key while scores are made, its value and their product in the sum.
function tagMarks(reply: BenchReply, position: number, key: number, x: number): Mark[] {
  const marks: Mark[] = [];
  const tag = (name: string, text: (vector: string) => string, y: number, fill: "k" | "v" | "ink", opacity: number) => {
    const matrix = matrixOf(reply, name);
    const vector = matrix && opacity > 0.01 ? tuple(matrix, key) : null;
    if (vector) marks.push({ kind: "label", x, y, text: text(vector), anchor: "middle", fill, opacity, size: 13 });
  };
  tag("k", (vector) => `k ${vector}`, tagsAt, "k", Math.min(phase(position, 0.3, 1), 1 - phase(position, 2.2, 2.8)));
  tag("v", (vector) => `v ${vector}`, tagsAt, "v", phase(position, 4, 4.3));
  return marks;
}

function stripWords(total: number): string {
  if (total === 0) return "no strip: no key is seen";
  return total === 1 ? "the whole strip is 1" : `the whole strip is ${shown(total, 3)}: the sink has the rest`;
}

function stripMarks(stage: Stage, width: number, ground: Ground): Mark[] {
  const { reply, position, weights } = stage;
  const shownShare = phase(position, 3.5, 3.75);
  if (shownShare === 0) return [];
  const cut = position > 3.75 + 1e-6;
  const labelled = cut ? weights : (stage.exp ?? weights);
  const marks: Mark[] = [];
  let from = 0;
  weights.values.forEach((share, key) => {
    const room = (Number.isFinite(share) ? share : 0) * width;
    const drawn = Math.min(room, Math.max(shownShare * width - from, 0));
    if (drawn > 0.2) {
      const fill = weights.scale ? coloured(weights.scale, share, ground) : "accent";
      const name = nameOf(labelled.matrix.name, labelled.matrix.first_row + labelled.row, key);
      marks.push({
        kind: "box",
        x: from,
        y: stripAt,
        width: drawn,
        height: stripTall,
        fill,
        stroke: "paper",
        thick: 1.5,
        name,
      });
      const number = shown(labelled.values[key] ?? NaN, labelled.matrix.decimals);
      const word = reply.keys[key] ?? "";
      const text = room > 8 * (word.length + number.length + 1) ? `${word} ${number}` : room > 44 ? number : "";
      const ink = fill === "accent" ? "ink" : textColourOn(fill);
      if (text && drawn === room)
        marks.push({
          kind: "label",
          x: from + room / 2,
          y: stripAt + stripTall / 2,
          text,
          anchor: "middle",
          fill: ink,
          name,
        });
    }
    from += room;
  });
  marks.push({
    kind: "box",
    x: 0,
    y: stripAt,
    width,
    height: stripTall,
    stroke: "soft",
    thick: 1,
    radius: 2,
    opacity: shownShare,
  });
  const sum = matrixOf(reply, "sum");
  const total = sum ? rowOf(sum.values, reply.query - sum.first_row)[0] : undefined;
  const name = sum ? nameOf("sum", reply.query, 0) : undefined;
  if (!cut && sum && total !== undefined) {
    marks.push({
      kind: "label",
      x: width / 2,
      y: stripAt + stripTall + 14,
      text: `together ${shown(total, sum.decimals)}`,
      anchor: "middle",
      size: 13,
      fill: "soft",
      ...(name ? { name } : {}),
    });
  } else if (cut) {
    marks.push({
      kind: "label",
      x: width / 2,
      y: stripAt + stripTall + 14,
      text: stripWords(weightTotal(reply)),
      anchor: "middle",
      size: 13,
      fill: "soft",
    });
  }
  return marks;
}

// Powers of e and weights are at most 1: the line they cannot pass.
function oneMarks(position: number, width: number): Mark[] {
  const opacity = phase(position, 3.3, 3.5);
  if (opacity === 0) return [];
  return [
    {
      kind: "line",
      points: [
        [16, top],
        [width, top],
      ],
      stroke: "rule",
      thick: 1,
      dashed: true,
      opacity,
    },
    { kind: "label", x: 0, y: top, text: "1", size: 13, fill: "soft", opacity },
  ];
}

function questionMarks(position: number, x: number, width: number): Mark[] {
  const opacity = 1 - phase(position, 1, 1.4);
  if (opacity === 0) return [];
  const mark: Mark = {
    kind: "label",
    x,
    y: top + tall * 0.6,
    text: "?",
    anchor: "middle",
    size: 24,
    fill: "soft",
    opacity,
  };
  return [
    {
      kind: "box",
      x: x - width / 2,
      y: top + tall * 0.2,
      width,
      height: tall * 0.8,
      stroke: "rule",
      dashed: true,
      radius: 4,
      opacity,
    },
    ...(width > 14 ? [mark] : []),
  ];
}

export interface BoardProps {
  reply: BenchReply;
  position: number;
  width: number;
  ground: Ground;
}

/** The forward picture at a position of the rail. */
export function boardDrawing({ reply, position, width, ground }: BoardProps): Drawing {
  const title = `How much ${reply.queries[reply.query] ?? ""} looks at each word`;
  const raw = rowIn(reply, matrixOf(reply, "raw"));
  const scores = rowIn(reply, finalScores(reply));
  const weights = rowIn(reply, matrixOf(reply, "weights"));
  const marks: Mark[] = [];
  if (!raw || !scores || !weights) return { width, height: boardHeight, title, marks };
  const largest = matrixOf(reply, "max");
  const stage: Stage = {
    reply,
    position,
    raw,
    scores,
    exp: rowIn(reply, matrixOf(reply, "exp")),
    weights,
    most: (largest ? rowOf(largest.values, reply.query - largest.first_row)[0] : undefined) ?? 0,
    span: spanOf([raw, scores]),
  };
  const slot = width / Math.max(reply.keys.length, 1);
  const thick = Math.min(76, slot * 0.6);
  const zero =
    position < 3
      ? stage.span.zero
      : position < 3.25
        ? mix(stage.span.zero, stage.span.zero - stage.most * stage.span.unit, phase(position, 3, 3.25))
        : base;
  marks.push(...oneMarks(position, width));
  reply.keys.forEach((word, key) => {
    const x = slot * (key + 0.5);
    marks.push(...questionMarks(position, x, thick));
    if (isHidden(weights.matrix, weights.row, key) && position > 2) {
      marks.push(...hatch(x - thick / 2, top, thick, tall));
      if (thick > 40)
        marks.push({ kind: "label", x, y: top + tall / 2, text: "hidden", anchor: "middle", fill: "soft", halo: true });
    } else marks.push(...ghostMarks(stage, key, x, thick));
    const column = isHidden(weights.matrix, weights.row, key) && position > 2.5 ? null : columnAt(stage, key);
    if (column) marks.push(...columnMarks(column, key, x, thick, ground));
    const isAsking = key === reply.query && reply.keys.length === reply.queries.length;
    if (slot > 26) marks.push(wordMark(word, x, wordsAt, slot, isAsking));
    else if (column && position >= 3.75) marks.push(...heavyMarks(stage, column, key, x, width));
    if (slot > 90) marks.push(...tagMarks(reply, position, key, x));
  });
  marks.push({
    kind: "line",
    points: [
      [0, zero],
      [width, zero],
    ],
    stroke: "soft",
    thick: 1,
    dashed: zero !== base,
  });
  marks.push(...queryTag(reply, position, width), ...stripMarks(stage, width, ground));
  return { width, height: mix(shortHeight, boardHeight, phase(position, 3.2, 3.5)), title, marks };
}

// Where the dot product stood, while the scale draws it in.
function ghostMarks(stage: Stage, key: number, x: number, width: number): Mark[] {
  const { position, raw, span } = stage;
  const opacity = Math.min(phase(position, 2, 2.2), 1 - phase(position, 3, 3.1));
  const value = raw.values[key] ?? 0;
  if (opacity === 0 || value === 0 || !Number.isFinite(value)) return [];
  const y = span.zero - Math.max(value, 0) * span.unit;
  return [
    {
      kind: "box",
      x: x - width / 2,
      y,
      width,
      height: Math.abs(value) * span.unit,
      stroke: "soft",
      dashed: true,
      thick: 1,
      radius: 2,
      opacity,
    },
  ];
}

function queryTag(reply: BenchReply, position: number, width: number): Mark[] {
  const matrix = matrixOf(reply, "q");
  const vector = matrix ? tuple(matrix, reply.query) : null;
  const opacity = Math.min(phase(position, 0.1, 0.9), 1 - phase(position, 2.2, 2.8));
  if (!vector || opacity === 0) return [];
  const text = `q of ${reply.queries[reply.query] ?? ""}: ${vector}`;
  return [{ kind: "label", x: width / 2, y: 12, text, anchor: "middle", fill: "q", bold: true, size: 15, opacity }];
}

// --- backward ---

const forwardWeights = 4; // the position at which the forward picture shows them

/** The backward picture, after the weights that the first steps go through: the gradient of each key's weight, then of its score, as columns about 0. */
export function backBoard({ reply, position, width, ground }: BoardProps): Drawing {
  const title = `How much each word's weight and score move the output of ${reply.queries[reply.query] ?? ""}`;
  const rows = reply.back.map((step) => rowIn(reply, firstPairs(reply, step.made)));
  const at = Math.ceil(position);
  const now = rows.slice(0, at).findLast((row) => row !== null) ?? null;
  const before = rows.slice(0, Math.max(at - 1, 0)).findLast((row) => row !== null) ?? null;
  if (!now) return { ...boardDrawing({ reply, position: forwardWeights, width, ground }), title };
  const t = phase(position, at - 1, at);
  const marks: Mark[] = [];
  const slot = width / Math.max(reply.keys.length, 1);
  const thick = Math.min(76, slot * 0.6);
  const span = spanOf([now]);
  reply.keys.forEach((word, key) => {
    const x = slot * (key + 0.5);
    if (slot > 26) marks.push(wordMark(word, x, wordsAt + 14, slot));
    const value = mix(before?.values[key] ?? 0, now.values[key] ?? 0, now === before ? 1 : t);
    const column = between(span.zero, span.zero - value * span.unit, now, 1);
    if (column) marks.push(...columnMarks(column, key, x, thick, ground));
  });
  marks.push({
    kind: "line",
    points: [
      [0, span.zero],
      [width, span.zero],
    ],
    stroke: "soft",
    thick: 1,
  });
  return { width, height: shortHeight + 12, title, marks };
}

function firstPairs(reply: BenchReply, names: readonly string[]): BenchMatrix | null {
  const pairs = (matrix: BenchMatrix | null) =>
    matrix !== null && matrix.columns.length === reply.keys.length && /^d_(weights|scores|raw)$/.test(matrix.name);
  return names.map((name) => matrixOf(reply, name)).find(pairs) ?? null;
}
