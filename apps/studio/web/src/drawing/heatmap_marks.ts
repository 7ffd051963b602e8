// A matrix as marks: cells in colours, with their numbers where there is room, what is hidden hatched and what is no
// number crossed, names of rows and columns, and sums in the margins.

import { colourOf, coloured, shareOf, textColourOn, type Scale } from "./colour";
import type { Cell } from "./grid";
import { blockMaxima, columnLeft, rowTop, shortened, sumsHeight, type HeatmapLayout } from "./heatmap_layout";
import { cross, hatch, type Label, type Mark, type Pixels } from "./marks";
import { shown } from "./numbers";
import type { Ground } from "./palette";

export interface HeatmapData {
  rows: readonly string[];
  columns: readonly string[];
  values: ArrayLike<number>; // row-major
  hidden: ArrayLike<number> | null;
  decimals: number;
  scale: Scale;
  rowTotals?: ArrayLike<number> | null;
  columnTotals?: ArrayLike<number> | null;
  /** Numbers below it fade. */
  least?: number;
  /** Cells that are struck out. */
  struck?: readonly Cell[];
  framedRow?: number | null;
  /** Where a second text begins, in rows and in columns. */
  second?: { row: number | null; column: number | null } | null;
  /** "weights": the cell of row 1 and column 2 is then called weights:1,2. */
  name?: string | undefined;
  firstRow?: number | undefined;
}

/** Rows and columns [from, to) that are drawn. */
export interface Window {
  top: number;
  left: number;
  bottom: number;
  right: number;
}

export interface HeatmapMarks {
  /** Cells and sums, which move both ways when the picture is scrolled. */
  cells: Mark[];
  rows: Mark[];
  columns: Mark[];
}

const mostBoxes = 4096; // cells that are drawn one by one
const faded = 0.18;
const small = 12;

export function wholeWindow({ rows, columns }: HeatmapLayout): Window {
  return { top: 0, left: 0, bottom: rows, right: columns };
}

/** The picture of all cells where they are too many to be drawn one by one, or stand for several numbers; else null. */
export function cellPixels(data: HeatmapData, layout: HeatmapLayout, ground: Ground): Pixels | null {
  const { rows, columns, block, rowBlock, left, top, wide, tall } = layout;
  if (block === 1 && rows * columns <= mostBoxes) return null;
  const { down, across, largest, hidden } = blockMaxima(data.values, data.hidden, layout, block, rowBlock);
  const bytes = new Uint8ClampedArray(4 * down * across);
  const table = Array.from({ length: 256 }, (_, n) => parseInt(colourOf(data.scale.map, n / 255, ground).slice(1), 16));
  for (let n = 0; n < largest.length; ++n) {
    if (hidden[n] === 1) continue; // the hatch shows through
    const value = largest[n]!;
    const colour = table[Math.round(255 * shareOf(data.scale, value))] ?? 0x808080; // grey: no number
    const opacity = data.least && value < data.least ? 255 * faded : 255;
    bytes.set([colour >> 16, (colour >> 8) & 255, colour & 255, opacity], 4 * n);
  }
  return { kind: "pixels", x: left, y: top, width: across * wide, height: down * tall, columns: across, rows: down, bytes };
}

export function heatmapMarks(
  data: HeatmapData,
  layout: HeatmapLayout,
  pixels: Pixels | null,
  window: Window,
  ground: Ground,
): HeatmapMarks {
  return {
    cells: [
      ...hiddenMarks(data, layout),
      ...(pixels ? [pixels, ...numberMarks(data, layout, window, ground)] : boxMarks(data, layout, window, ground)),
      ...boundaryMarks(data, layout),
      ...struckMarks(data, layout),
      ...frameMarks(data, layout),
      ...sumMarks(data, layout, window),
    ],
    rows: rowLabels(data, layout, window),
    columns: columnLabels(data, layout, window),
  };
}

function bottomOf(layout: HeatmapLayout): number {
  return layout.top + Math.ceil(layout.rows / layout.rowBlock) * layout.tall;
}

function rightOf(layout: HeatmapLayout): number {
  return layout.left + Math.ceil(layout.columns / layout.block) * layout.wide;
}

function hiddenMarks({ hidden }: HeatmapData, layout: HeatmapLayout): Mark[] {
  if (!hidden) return [];
  const { left, top } = layout;
  return hatch(left, top, rightOf(layout) - left, bottomOf(layout) - top, 7);
}

// Cells that can be seen lie on paper: the hatch does not show between them.
function boxMarks(data: HeatmapData, layout: HeatmapLayout, window: Window, ground: Ground): Mark[] {
  const marks: Mark[] = [];
  const gap = Math.min(layout.wide, layout.tall) >= 10 ? 1 : 0;
  for (let row = window.top; row < window.bottom; ++row) {
    if (data.hidden) marks.push(...paperUnder(data, layout, row, window));
    for (let column = window.left; column < window.right; ++column) {
      if (data.hidden?.[row * layout.columns + column] !== 1) marks.push(...cellMarks(data, layout, row, column, gap, ground));
    }
  }
  return marks;
}

function paperUnder({ hidden }: HeatmapData, layout: HeatmapLayout, row: number, { left, right }: Window): Mark[] {
  const marks: Mark[] = [];
  const isHidden = (column: number) => hidden?.[row * layout.columns + column] === 1;
  for (let column = left; column < right; ++column) {
    if (isHidden(column)) continue;
    const from = column;
    while (column < right && !isHidden(column)) ++column;
    const x = columnLeft(layout, from);
    const width = columnLeft(layout, column) - x;
    marks.push({ kind: "box", x, y: rowTop(layout, row), width, height: layout.tall, fill: "paper" });
  }
  return marks;
}

function cellMarks(data: HeatmapData, layout: HeatmapLayout, row: number, column: number, gap: number, ground: Ground): Mark[] {
  const value = data.values[row * layout.columns + column] ?? NaN;
  const [x, y] = [columnLeft(layout, column), rowTop(layout, row)];
  const [width, height] = [layout.wide - gap, layout.tall - gap];
  const named = data.name ? { name: `${data.name}:${(data.firstRow ?? 0) + row},${column}` } : {};
  if (Number.isNaN(value)) return [{ kind: "box", x, y, width, height, fill: "paper", ...named }, ...cross(x, y, width, height)];
  const fill = coloured(data.scale, value, ground);
  const isFaded = data.least !== undefined && value < data.least;
  const box: Mark = { kind: "box", x, y, width, height, fill, ...(isFaded ? { opacity: faded } : {}), ...named };
  const number = numberMark(data, layout, row, column, isFaded ? null : fill);
  return number ? [box, number] : [box];
}

function numberMark({ values, name, firstRow = 0 }: HeatmapData, layout: HeatmapLayout, row: number, column: number, fill: string | null): Label | null {
  if (layout.decimals === null) return null;
  const value = values[row * layout.columns + column] ?? NaN;
  const text = shown(value, layout.decimals);
  const isNothing = text === "0" || text === "≈0";
  return {
    kind: "label",
    x: columnLeft(layout, column) + layout.wide / 2,
    y: rowTop(layout, row) + layout.tall / 2,
    text,
    anchor: "middle",
    size: layout.wide >= 44 ? 13 : 11,
    fill: fill === null || isNothing ? "soft" : textColourOn(fill),
    ...(name ? { name: `${name}:${firstRow + row},${column}` } : {}),
  };
}

function numberMarks(data: HeatmapData, layout: HeatmapLayout, window: Window, ground: Ground): Mark[] {
  if (layout.decimals === null) return [];
  const marks: Mark[] = [];
  for (let row = window.top; row < window.bottom; ++row) {
    for (let column = window.left; column < window.right; ++column) {
      const n = row * layout.columns + column;
      if (data.hidden?.[n] === 1) continue;
      const number = numberMark(data, layout, row, column, coloured(data.scale, data.values[n] ?? NaN, ground));
      if (number) marks.push(number);
    }
  }
  return marks;
}

// Between two texts.
function boundaryMarks({ second }: HeatmapData, layout: HeatmapLayout): Mark[] {
  const line = (points: [number, number][]): Mark => ({ kind: "line", points, stroke: "ink", thick: 1.5, dashed: true });
  const marks: Mark[] = [];
  if (second?.column != null) {
    const x = columnLeft(layout, second.column) - 0.5;
    marks.push(line([[x, layout.top - 6], [x, bottomOf(layout)]]));
  }
  if (second?.row != null) {
    const y = rowTop(layout, second.row) - 0.5;
    marks.push(line([[layout.left - 6, y], [rightOf(layout), y]]));
  }
  return marks;
}

const cutColour = "#d03a2b";

function struckMarks({ struck = [] }: HeatmapData, layout: HeatmapLayout): Mark[] {
  return struck.flatMap(({ row, column }) => {
    const [x, y] = [columnLeft(layout, column), rowTop(layout, row)];
    const inset = Math.min(layout.wide * 0.2, 7);
    const stroke = (from: [number, number], to: [number, number]): Mark[] => [
      { kind: "line", points: [from, to], stroke: "paper", thick: 6 },
      { kind: "line", points: [from, to], stroke: cutColour, thick: 3 },
    ];
    const [right, bottom] = [x + layout.wide - inset, y + layout.tall - inset];
    return [...stroke([x + inset, y + inset], [right, bottom]), ...stroke([x + inset, bottom], [right, y + inset])];
  });
}

function frameMarks({ framedRow }: HeatmapData, layout: HeatmapLayout): Mark[] {
  if (framedRow == null || framedRow >= layout.rows) return [];
  const { left, tall } = layout;
  const y = rowTop(layout, framedRow) - 1;
  return [{ kind: "box", x: left - 1, y, width: rightOf(layout) - left + 1, height: tall + 1, stroke: "accent", thick: 2 }];
}

// On the right each row's sum; below, bars of what each column gets from all rows.
function sumMarks({ rowTotals, columnTotals }: HeatmapData, layout: HeatmapLayout, window: Window): Mark[] {
  const marks: Mark[] = [];
  const right = rightOf(layout);
  for (let row = window.top; rowTotals && layout.tall >= 14 && row < window.bottom; ++row) {
    const text = `Σ ${shown(rowTotals[row] ?? NaN, 3)}`;
    marks.push({ kind: "label", x: right + 8, y: rowTop(layout, row + 0.5), text, size: small, fill: "soft" });
  }
  if (!columnTotals) return marks;
  const most = Array.from(columnTotals).reduce((a, b) => Math.max(a, b), 1e-9);
  const wide = layout.wide / layout.block;
  const y = bottomOf(layout) + 4;
  for (let column = window.left; column < window.right; ++column) {
    const x = columnLeft(layout, column);
    const height = ((columnTotals[column] ?? 0) / most) * (sumsHeight - 22);
    marks.push({ kind: "box", x: x + wide * 0.12, y, width: Math.max(wide * 0.76, 0.6), height, fill: "k", opacity: 0.55 });
    if (layout.wide < 28) continue;
    const text = shown(columnTotals[column] ?? NaN, 2);
    marks.push({ kind: "label", x: x + wide / 2, y: y + height + 9, text, size: small, anchor: "middle", fill: "soft" });
  }
  return marks;
}

export function rowLabel(data: HeatmapData, layout: HeatmapLayout, row: number): Label {
  const text = layout.rowsTicked ? String(row + (data.firstRow ?? 0)) : shortened(data.rows[row] ?? "");
  return { kind: "label", x: layout.left - 8, y: rowTop(layout, row + 0.5), text, anchor: "end" };
}

export function columnLabel(data: HeatmapData, layout: HeatmapLayout, column: number): Label {
  const x = columnLeft(layout, column + 0.5);
  const text = layout.columnsTicked ? String(column) : shortened(data.columns[column] ?? "");
  if (!layout.slanted) return { kind: "label", x, y: layout.top - 12, text, anchor: "middle" };
  return { kind: "label", x: x + 1, y: layout.top - 11, text, turn: -45 };
}

function rowLabels(data: HeatmapData, layout: HeatmapLayout, window: Window): Mark[] {
  const marks: Mark[] = [];
  for (let row = 0; row < window.bottom; row += layout.rowStep) {
    if (row < window.top) continue;
    marks.push(rowLabel(data, layout, row));
    if (layout.rowsTicked) marks.push(tick(layout.left, rowTop(layout, row + 0.5), -5, 0));
  }
  return marks;
}

function columnLabels(data: HeatmapData, layout: HeatmapLayout, window: Window): Mark[] {
  const marks: Mark[] = [];
  for (let column = 0; layout.columnStep > 0 && column < window.right; column += layout.columnStep) {
    if (column < window.left) continue;
    marks.push(columnLabel(data, layout, column));
    if (layout.columnsTicked) marks.push(tick(columnLeft(layout, column + 0.5), layout.top, 0, -5));
  }
  return marks;
}

function tick(x: number, y: number, dx: number, dy: number): Mark {
  return { kind: "line", points: [[x, y], [x + dx, y + dy]], stroke: "soft", thick: 1 };
}

/** All of it, for a file. */
export function heatmapDrawing(data: HeatmapData, layout: HeatmapLayout, ground: Ground): Mark[] {
  const marks = heatmapMarks(data, layout, cellPixels(data, layout, ground), wholeWindow(layout), ground);
  return [...marks.cells, ...marks.rows, ...marks.columns];
}
