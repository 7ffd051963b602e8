// Where the cells and labels of a matrix lie, for any number of rows: full numbers when cells are large, then colours
// with all labels, with some of them, with ticks; below 2 pixels a cell stands for several numbers.

import { decimalsIn } from "./numbers";

export interface HeatmapFrame {
  rows: readonly string[];
  /** Empty: columns have no names. */
  columns: readonly string[];
  columnCount: number;
  decimals: number;
  /** Whether there are sums of rows on the right, and of columns below. */
  sumsOfRows: boolean;
  sumsOfColumns: boolean;
  /** The height of a row, for vectors as strips; else cells are square, or as tall as a label where rows are few. */
  rowTall?: number | undefined;
  /** The widest that a cell may be. */
  largest?: number | undefined;
}

export interface HeatmapLayout {
  rows: number;
  columns: number;
  /** Pixels of a cell, and how many columns and rows it stands for (more than 1 only below 2 pixels a number). */
  wide: number;
  tall: number;
  block: number;
  rowBlock: number; // as block, or 1 where rows are few
  /** Where the cells begin. */
  left: number;
  top: number;
  /** Of everything, with margins. */
  width: number;
  height: number;
  rowStep: number; // every how many rows a label
  columnStep: number; // 0: none
  slanted: boolean; // column labels
  rowsTicked: boolean; // places in the place of names
  columnsTicked: boolean;
  decimals: number | null;
}

export const sumsHeight = 46; // of columns
const sumsWidth = 64; // of rows
const largestCell = 64;
const smallestCell = 2;
const labelPixels = 7.2; // a character at 13 px, about
const wideLetters = /[@%mwMW…—]/gu;
const wideBy = 5; // pixels more
const longestLabel = 16; // characters
const lineHeight = 14;
const slant = Math.SQRT1_2;
const fewRows = 24;
const tickedBelow = 6;

/** A label as it is drawn. */
export function shortened(label: string, most = longestLabel): string {
  const characters = [...label];
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : label;
}

function longest(labels: readonly string[]): number {
  const pixels = (label: string) => [...label].length * labelPixels + (label.match(wideLetters)?.length ?? 0) * wideBy;
  return labels.reduce((most, label) => Math.max(most, pixels(shortened(label))), labelPixels);
}

/** Fits the matrix into `width` × `height`, then magnifies it by `zoom` (1: it fits). */
export function heatmapLayout(frame: HeatmapFrame, width: number, height = Infinity, zoom = 1): HeatmapLayout {
  const { rows, columns, columnCount } = frame;
  const left = longest(rows) + 12;
  const wideLabel = columns.length > 0 ? longest(columns) : 0;
  const slantedTop = columns.length > 0 ? wideLabel * slant + 16 : 0;
  const right = frame.sumsOfRows ? sumsWidth : 4;
  const bottom = frame.sumsOfColumns ? sumsHeight : 4;
  const largest = frame.largest ?? largestCell;
  const across = (width - left - Math.max(right, slantedTop)) / Math.max(columnCount, 1);
  const down = (height - slantedTop - bottom) / Math.max(rows.length, 1);
  const fitting = Math.min(across, frame.rowTall === undefined ? down : Infinity, largest);
  const exact = Math.min(Math.max(fitting, smallestCell / 8) * zoom, largest);
  const block = exact >= smallestCell ? 1 : Math.ceil(smallestCell / exact);
  const wide = block > 1 ? smallestCell : exact >= tickedBelow ? Math.floor(exact) : exact;
  const few = rows.length <= fewRows && rows.length < columnCount ? lineHeight : 0;
  const rowBlock = few > 0 ? 1 : block;
  const tall = frame.rowTall ?? Math.max(wide, few);
  const slanted = columns.length > 0 && wideLabel > wide - 4;
  const top = columns.length === 0 ? lineHeight / 2 : slanted ? slantedTop : lineHeight + 10;
  const columnsTicked = wide / block < tickedBelow;
  return {
    rows: rows.length,
    columns: columnCount,
    wide,
    tall,
    block,
    rowBlock,
    left,
    top,
    width: left + Math.ceil(columnCount / block) * wide + (slanted ? Math.max(right, slantedTop) : right),
    height: top + Math.ceil(rows.length / rowBlock) * tall + bottom,
    rowStep: labelStep(tall / rowBlock),
    columnStep: columns.length > 0 ? labelStep(wide / block) : 0,
    slanted: slanted && !columnsTicked,
    rowsTicked: tall / rowBlock < tickedBelow,
    columnsTicked,
    decimals: block === 1 ? decimalsIn(Math.min(wide, tall === wide ? tall : wide), frame.decimals) : null,
  };
}

/** Every how many places a label has room for its line. */
function labelStep(pixels: number): number {
  if (pixels >= lineHeight) return 1;
  const steps = [2, 4, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000];
  return steps.find((step) => step * pixels >= 2 * lineHeight) ?? 1000;
}

export function rowTop(layout: HeatmapLayout, row: number): number {
  return layout.top + (row / layout.rowBlock) * layout.tall;
}

export function columnLeft(layout: HeatmapLayout, column: number): number {
  return layout.left + (column / layout.block) * layout.wide;
}

/** The cell under a point of the whole picture; null outside the cells. Of a block, its first. */
export function cellAt(layout: HeatmapLayout, x: number, y: number): { row: number; column: number } | null {
  const column = Math.floor((x - layout.left) / layout.wide) * layout.block;
  const row = Math.floor((y - layout.top) / layout.tall) * layout.rowBlock;
  if (x < layout.left || y < layout.top || row >= layout.rows || column >= layout.columns) return null;
  return { row, column };
}

/** What one cell is, where it is not one number. */
export function blockNote({ block, rowBlock }: HeatmapLayout): string {
  return block > 1 ? `One cell is ${rowBlock} × ${block} numbers, and shows the largest.` : "";
}

/** The largest of each block's values, row-major, with those that are all hidden marked. */
export function blockMaxima(
  values: ArrayLike<number>,
  hidden: ArrayLike<number> | null,
  size: { rows: number; columns: number },
  block: number,
  rowBlock = block,
) {
  const down = Math.ceil(size.rows / rowBlock);
  const across = Math.ceil(size.columns / block);
  const largest = new Float32Array(down * across).fill(block > 1 ? -Infinity : 0);
  const allHidden = new Uint8Array(down * across).fill(hidden ? 1 : 0);
  for (let row = 0; row < size.rows; ++row) {
    const into = Math.floor(row / rowBlock) * across;
    for (let column = 0; column < size.columns; ++column) {
      const from = row * size.columns + column;
      const to = into + Math.floor(column / block);
      if (hidden?.[from] === 1) continue;
      allHidden[to] = 0;
      if (block === 1 || values[from]! > largest[to]!) largest[to] = values[from]!;
    }
  }
  return { down, across, largest, hidden: allHidden };
}
