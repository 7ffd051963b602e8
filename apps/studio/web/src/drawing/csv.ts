// A matrix as comma-separated values, with all digits.

import { rowOf, sizeOf, type Tensor } from "../engine/tensor";

export function csvOf(matrix: Tensor, columns?: readonly string[]): string {
  const { rows } = sizeOf(matrix);
  const lines = Array.from({ length: rows }, (_, row) => rowOf(matrix, row).join(","));
  return [...(columns ? [columns.map(quoted).join(",")] : []), ...lines].join("\r\n") + "\r\n";
}

/** A cell of text, in quotes where it holds a comma, a quote or a line's end. */
export function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
