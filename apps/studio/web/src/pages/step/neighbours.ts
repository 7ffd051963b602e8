// What a number is made of and goes into, as a reader would call it: "weights cat, sat" for weights:1,2, "Q cat" for q:1,*.

import { shown } from "../../drawing/numbers";
import type { BenchMatrix, BenchReply } from "../../engine/messages";
import { sizeOf, valueAt } from "../../engine/tensor";
import { nameOf } from "../../parts/links";
import { matrixOf } from "./matrices";

export interface Neighbour {
  /** "weights:1,2", or the first of several numbers. */
  name: string;
  label: string;
  values: string;
}

const mostValues = 4;

/** Null for what the reply does not hold. */
export function neighbourOf(reply: BenchReply, pattern: string): Neighbour | null {
  const match = /^([a-z_]+):(\d+|\*),(\d+|\*)$/.exec(pattern);
  const matrix = match ? matrixOf(reply, match[1]!) : null;
  if (!match || !matrix) return null;
  const size = sizeOf(matrix.values);
  const row = match[2] === "*" ? null : Number(match[2]) - matrix.first_row;
  const column = match[3] === "*" ? null : Number(match[3]);
  if ((row ?? 0) < 0 || (row ?? 0) >= size.rows || (column ?? 0) >= size.columns) return null;
  return {
    name: nameOf(matrix.name, (row ?? 0) + matrix.first_row, column ?? 0),
    label: [matrix.title, row === null ? "" : (matrix.rows[row] ?? ""), columnLabel(matrix, column)]
      .filter(Boolean)
      .join(" "),
    values: valuesOf(matrix, row, column),
  };
}

function columnLabel(matrix: BenchMatrix, column: number | null): string {
  const label = column === null ? "" : (matrix.columns[column] ?? "");
  return label && matrix.columns.length > 1 ? `[${label}]` : "";
}

function valuesOf(matrix: BenchMatrix, row: number | null, column: number | null): string {
  const size = sizeOf(matrix.values);
  const rows = row === null ? Array.from({ length: size.rows }, (_, n) => n) : [row];
  const columns = column === null ? Array.from({ length: size.columns }, (_, n) => n) : [column];
  const values = rows.flatMap((r) => columns.map((c) => shown(valueAt(matrix.values, r, c), matrix.decimals)));
  if (values.length === 1) return values[0]!;
  return values.length > mostValues ? `(${values.slice(0, mostValues).join(", ")}, …)` : `(${values.join(", ")})`;
}
