// A small matrix as marks, for files: what MatrixTable shows on the screen.

import { coloured, textColourOn, type Scale } from "./colour";
import { cross, hatch, type Mark, type Paint } from "./marks";
import { shown } from "./numbers";
import type { Ground } from "./palette";
import { sizeOf, valueAt, type Tensor } from "../engine/tensor";

export interface MatrixFigure {
  title: string;
  titlePaint?: Paint;
  rows: readonly string[];
  columns: readonly string[] | null;
  values: Tensor;
  hidden: Tensor | null;
  decimals: number;
  scale: Scale | null;
}

const cellWide = 56;
const cellTall = 34;

export function matrixMarks(figure: MatrixFigure, ground: Ground): { marks: Mark[]; width: number; height: number } {
  const { rows, columns } = sizeOf(figure.values);
  const left = Math.max(...figure.rows.map((label) => label.length), 1) * 8 + 10;
  const top = figure.columns ? 46 : 26;
  const marks: Mark[] = [{ kind: "label", x: left, y: 10, text: figure.title, bold: true, fill: figure.titlePaint ?? "ink" }];
  figure.columns?.forEach((label, column) => {
    marks.push({ kind: "label", x: left + (column + 0.5) * cellWide, y: 34, text: label, anchor: "middle", fill: "soft" });
  });
  for (let row = 0; row < rows; ++row) {
    marks.push({ kind: "label", x: left - 8, y: top + (row + 0.5) * cellTall, text: figure.rows[row] ?? "", anchor: "end" });
    for (let column = 0; column < columns; ++column) {
      marks.push(...cellMarks(figure, row, column, left + column * cellWide, top + row * cellTall, ground));
    }
  }
  return { marks, width: left + columns * cellWide, height: top + rows * cellTall };
}

function cellMarks(figure: MatrixFigure, row: number, column: number, x: number, y: number, ground: Ground): Mark[] {
  const value = valueAt(figure.values, row, column);
  const [width, height] = [cellWide - 2, cellTall - 2];
  if (figure.hidden && valueAt(figure.hidden, row, column) === 1) {
    return [{ kind: "box", x, y, width, height, stroke: "rule", thick: 1 }, ...hatch(x, y, width, height)];
  }
  const fill: Paint = figure.scale && Number.isFinite(value) ? coloured(figure.scale, value, ground) : "paper";
  const ink: Paint = fill.startsWith("#") ? textColourOn(fill) : "ink";
  const box: Mark = { kind: "box", x, y, width, height, fill, stroke: "rule", thick: 1, radius: 3 };
  const text: Mark = { kind: "label", x: x + width / 2, y: y + height / 2, text: shown(value, figure.decimals), anchor: "middle", fill: ink };
  return Number.isNaN(value) ? [box, ...cross(x, y, width, height)] : [box, text];
}
