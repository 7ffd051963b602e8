// The map of a head over its text as marks: queries down, keys across, with what is cut struck out.

import { coloured, textColourOn } from "../../drawing/colour";
import { hatch, type Mark } from "../../drawing/marks";
import { decimalsIn, shown } from "../../drawing/numbers";
import type { Ground } from "../../drawing/palette";
import type { HeadReply } from "../../engine/messages";
import { valueAt } from "../../engine/tensor";
import type { Edge } from "./changes";

export interface MapLayout {
  rows: number;
  columns: number;
  cell: number;
  left: number;
  top: number;
  width: number;
  height: number;
  /** Every how many rows and columns a label stands. */
  every: number;
}

export const weightScale = { map: "sequential", least: 0, most: 1 } as const;

const letter = 8; // pixels, of labels
const line = 15;
const longest = 14; // letters of a label

export function shortened(label: string): string {
  return label.length > longest ? `${label.slice(0, longest - 1)}…` : label;
}

/** Cells as large as `room` pixels allow, from 2 to 44. */
export function mapLayout({ queries, keys }: Pick<HeadReply, "queries" | "keys">, room: number): MapLayout {
  const widest = (labels: readonly string[]) => Math.max(...labels.map((label) => shortened(label).length), 1) * letter;
  const left = widest(queries) + 10;
  const cell = Math.min(Math.max(Math.floor((room - left - 2) / Math.max(keys.length, 1)), 2), 44);
  const upright = standUp(keys, cell);
  const top = upright ? widest(keys) + 8 : 22;
  const [rows, columns] = [queries.length, keys.length];
  const every = Math.ceil(line / cell);
  return { rows, columns, cell, left, top, width: left + columns * cell + 2, height: top + rows * cell + 2, every };
}

/** Whether the labels of the keys are too wide for their cells. */
export function standUp(keys: readonly string[], cell: number): boolean {
  return keys.some((key) => shortened(key).length * letter + 4 > cell);
}

export function cellAt(layout: MapLayout, x: number, y: number): { query: number; key: number } | null {
  const [query, key] = [Math.floor((y - layout.top) / layout.cell), Math.floor((x - layout.left) / layout.cell)];
  return query >= 0 && query < layout.rows && key >= 0 && key < layout.columns ? { query, key } : null;
}

export function isHidden(reply: HeadReply, query: number, key: number): boolean {
  return reply.hidden ? valueAt(reply.hidden, query, key) === 1 : false;
}

const unseen = 0.002; // a weight whose colour is that of 0

export function mapMarks(
  reply: HeadReply,
  layout: MapLayout,
  cuts: readonly Edge[],
  place: number | null,
  ground: Ground,
): Mark[] {
  const { cell, left, top, rows, columns } = layout;
  const gap = cell >= 10 ? 1 : 0;
  const marks: Mark[] = [...labels(reply, layout, place)];
  marks.push({
    kind: "box",
    x: left,
    y: top,
    width: columns * cell - gap,
    height: rows * cell - gap,
    fill: coloured(weightScale, 0, ground),
  });
  for (let query = 0; query < rows; ++query) {
    const y = top + query * cell;
    for (let key = 0; key < columns; ++key) {
      const x = left + key * cell;
      if (isHidden(reply, query, key)) {
        const end = hiddenUntil(reply, query, key, columns);
        marks.push(...hiddenMarks(x, y, (end - key) * cell, cell, gap));
        key = end - 1;
      } else marks.push(...cellMarks(valueAt(reply.weights, query, key), x, y, cell, gap, ground));
    }
  }
  for (const { query, key } of cuts) marks.push(...struck(left + key * cell, top + query * cell, cell - gap));
  if (place !== null && place < rows) {
    marks.push({
      kind: "box",
      x: left - 1,
      y: top + place * cell - 1,
      width: columns * cell + 1,
      height: cell + 1,
      stroke: "accent",
      thick: 2,
    });
  }
  return marks;
}

function hiddenUntil(reply: HeadReply, query: number, key: number, columns: number): number {
  let end = key;
  while (end < columns && isHidden(reply, query, end)) ++end;
  return end;
}

function hiddenMarks(x: number, y: number, width: number, cell: number, gap: number): Mark[] {
  const box: Mark = { kind: "box", x, y, width: width - gap, height: cell - gap, fill: "paper" };
  return cell >= 12 ? [box, ...hatch(x, y, width - gap, cell - gap, 7)] : [box];
}

function cellMarks(weight: number, x: number, y: number, cell: number, gap: number, ground: Ground): Mark[] {
  const decimals = decimalsIn(cell, 3);
  const isSeen = weight >= unseen;
  const isZero = decimals !== null && weight < 0.5 * 10 ** -decimals;
  const fill = coloured(weightScale, weight, ground);
  const marks: Mark[] = isSeen || gap > 0 ? [{ kind: "box", x, y, width: cell - gap, height: cell - gap, fill }] : [];
  if (decimals !== null) {
    const size = cell >= 44 ? 13 : 11;
    marks.push({
      kind: "label",
      x: x + cell / 2,
      y: y + cell / 2,
      text: shown(weight, decimals),
      anchor: "middle",
      size,
      fill: isZero ? "soft" : textColourOn(fill),
    });
  }
  return marks;
}

function struck(x: number, y: number, size: number): Mark[] {
  const inset = Math.min(size * 0.2, 7);
  const [a, b] = [inset, size - inset];
  const stroke = (points: [number, number][]): Mark[] => [
    { kind: "line", points, stroke: "paper", thick: 6 },
    { kind: "line", points, stroke: "#d03a2b", thick: 3 },
  ];
  const at = (dx: number, dy: number): [number, number] => [x + dx, y + dy];
  return [...stroke([at(a, a), at(b, b)]), ...stroke([at(a, b), at(b, a)])];
}

function labels(reply: HeadReply, { cell, left, top, every }: MapLayout, place: number | null): Mark[] {
  const upright = standUp(reply.keys, cell);
  const marks: Mark[] = [];
  reply.queries.forEach((text, row) => {
    if (row % every !== 0 && row !== place) return;
    marks.push({
      kind: "label",
      x: left - 6,
      y: top + (row + 0.5) * cell,
      text: shortened(text),
      anchor: "end",
      fill: row === place ? "accent" : "q",
      bold: row === place,
    });
  });
  reply.keys.forEach((text, column) => {
    if (column % every !== 0) return;
    const x = left + (column + 0.5) * cell;
    marks.push(
      upright
        ? { kind: "label", x, y: top - 6, text: shortened(text), turn: -90, fill: "k" }
        : { kind: "label", x, y: top - 11, text: shortened(text), anchor: "middle", fill: "k" },
    );
  });
  return marks;
}
