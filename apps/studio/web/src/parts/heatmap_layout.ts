// Where the cells and labels of a matrix go that has too many numbers for a table.

import type { Tensor } from "../engine/tensor";
import { sizeOf } from "../engine/tensor";

export interface HeatmapLayout {
  rows: number;
  columns: number;
  cellWide: number;
  cellTall: number;
  left: number; // where the cells begin
  top: number;
  width: number;
  height: number;
  /** Every how many rows and columns a label stands; 0: none. */
  rowStep: number;
  columnStep: number;
}

const letter = 7; // pixels, of labels
const lineTall = 13;
const labelGap = 6;

const largest = 44;
const smallest = 2;

/** `rowTall`: the height of a row, for vectors as strips. Else cells as large as fit `room`, 2 to 44 pixels; rows of few are at least as tall as a label. */
export function heatmapLayout(
  values: Tensor,
  rowLabels: readonly string[],
  columnLabels: readonly string[],
  room: number,
  rowTall?: number,
): HeatmapLayout {
  const { rows, columns } = sizeOf(values);
  const widest = Math.max(...rowLabels.map((label) => label.length), 0);
  const left = Math.min(widest * letter, 90) + labelGap;
  const cellWide = Math.min(Math.max(Math.floor((room - left) / Math.max(columns, 1)), smallest), largest);
  const cellTall = rowTall ?? Math.max(cellWide, rows <= 24 ? lineTall + 1 : smallest);
  const columnWidest = Math.max(...columnLabels.map((label) => label.length), 0) * letter + labelGap;
  const top = columnLabels.length > 0 ? lineTall + labelGap : labelGap; // half of the first row's label
  return {
    rows,
    columns,
    cellWide,
    cellTall,
    left,
    top,
    width: left + columns * cellWide,
    height: top + rows * cellTall,
    rowStep: thinned(lineTall, cellTall),
    columnStep: columnLabels.length > 0 ? thinned(columnWidest, cellWide) : 0,
  };
}

// 1, 2, 5, 10, 20, 50 …: the first at which labels do not touch.
function thinned(label: number, cell: number): number {
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) if (digit * power * cell >= label) return digit * power;
  }
}

/** The cell under a point of the canvas; null beside the cells. */
export function cellAt(layout: HeatmapLayout, x: number, y: number): { row: number; column: number } | null {
  const row = Math.floor((y - layout.top) / layout.cellTall);
  const column = Math.floor((x - layout.left) / layout.cellWide);
  return row >= 0 && row < layout.rows && column >= 0 && column < layout.columns ? { row, column } : null;
}
