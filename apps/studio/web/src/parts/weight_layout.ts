// Where the cells and labels of a matrix lie, for any number of tokens: full numbers when cells are large, then colours
// with all labels, with some of them, with ticks; below 2 pixels a cell stands for several weights.

import { decimalsIn } from "../drawing/numbers";

export interface WeightSize {
  rows: number;
  columns: number;
}

export interface WeightLayout extends WeightSize {
  /** Pixels of a cell, and how many weights it stands for a side (more than 1 only below 2 pixels a weight). */
  cell: number;
  block: number;
  /** Where the cells begin. */
  left: number;
  top: number;
  /** Of everything, with margins. */
  width: number;
  height: number;
  rowStep: number; // every how many rows a label
  columnStep: number;
  slanted: boolean; // column labels
  decimals: number | null;
}

export const marginWidth = 64; // sums by query
export const marginHeight = 46; // sums by key
const largestCell = 64;
const smallestCell = 2;
const labelPixels = 7.2; // a character at 13 px, about
const longestLabel = 16; // characters
const lineHeight = 14;
const slant = Math.SQRT1_2;

/** A label as it is drawn. */
export function shortened(label: string): string {
  const characters = [...label];
  return characters.length > longestLabel ? `${characters.slice(0, longestLabel - 1).join("")}…` : label;
}

function longest(labels: readonly string[]): number {
  return labels.reduce((most, label) => Math.max(most, [...shortened(label)].length), 1) * labelPixels;
}

/** Fits the matrix into `width` × `height`, then magnifies it by `zoom` (1: it fits). */
export function weightLayout(rows: readonly string[], columns: readonly string[], decimals: number, width: number, height: number, zoom: number): WeightLayout {
  const left = longest(rows) + 12;
  const wide = longest(columns);
  const slantedTop = wide * slant + 16;
  const overhang = Math.max(marginWidth, slantedTop);
  const room = Math.min((width - left - overhang) / columns.length, (height - slantedTop - marginHeight) / rows.length);
  const fitting = Math.min(room, largestCell);
  const exact = Math.min(Math.max(fitting, smallestCell / 8) * zoom, largestCell);
  const block = exact >= smallestCell ? 1 : Math.ceil(smallestCell / exact);
  const cell = block > 1 ? smallestCell : exact >= 6 ? Math.floor(exact) : exact;
  const slanted = wide > cell - 4;
  const top = slanted ? slantedTop : lineHeight + 10;
  const across = Math.ceil(columns.length / block) * cell;
  const down = Math.ceil(rows.length / block) * cell;
  return {
    rows: rows.length,
    columns: columns.length,
    cell,
    block,
    left,
    top,
    width: left + across + (slanted ? overhang : marginWidth),
    height: top + down + marginHeight,
    rowStep: labelStep(cell / block),
    columnStep: labelStep(cell / block),
    slanted,
    decimals: block === 1 ? decimalsIn(cell, decimals) : null,
  };
}

/** Every how many places a label has room for its line. */
function labelStep(pixels: number): number {
  if (pixels >= lineHeight) return 1;
  const steps = [2, 4, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000];
  return steps.find((step) => step * pixels >= lineHeight) ?? 1000;
}

export function rowTop(layout: WeightLayout, row: number): number {
  return layout.top + (row / layout.block) * layout.cell;
}

export function columnLeft(layout: WeightLayout, column: number): number {
  return layout.left + (column / layout.block) * layout.cell;
}

/** The pair under a point of the whole picture; null outside the cells. Of a block, its first. */
export function pairAt(layout: WeightLayout, x: number, y: number): { row: number; column: number } | null {
  const column = Math.floor((x - layout.left) / layout.cell) * layout.block;
  const row = Math.floor((y - layout.top) / layout.cell) * layout.block;
  if (x < layout.left || y < layout.top || row >= layout.rows || column >= layout.columns) return null;
  return { row, column };
}

/** The row whose label is under a point; null elsewhere. */
export function rowLabelAt(layout: WeightLayout, x: number, y: number): number | null {
  const row = Math.floor((y - layout.top) / layout.cell) * layout.block;
  return x < layout.left && y >= layout.top && row < layout.rows ? row : null;
}

/** The largest of each block's values, row-major, with those that are all hidden marked. */
export function blockMaxima(values: ArrayLike<number>, hidden: ArrayLike<number> | null, size: WeightSize, block: number) {
  const down = Math.ceil(size.rows / block);
  const across = Math.ceil(size.columns / block);
  const largest = new Float32Array(down * across);
  const allHidden = new Uint8Array(down * across).fill(hidden ? 1 : 0);
  for (let row = 0; row < size.rows; ++row) {
    const into = Math.floor(row / block) * across;
    for (let column = 0; column < size.columns; ++column) {
      const from = row * size.columns + column;
      const to = into + Math.floor(column / block);
      if (hidden && hidden[from] !== 1) allHidden[to] = 0;
      if (values[from]! > largest[to]!) largest[to] = values[from]!;
    }
  }
  return { down, across, largest, hidden: allHidden };
}
