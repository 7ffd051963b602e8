// Finding matrices in a reply, and which of their colours and gradients belong together.

import type { Scale } from "../../drawing/colour";
import type { BenchMatrix, BenchReply } from "../../engine/messages";
import { rowOf, sizeOf, valueAt, type Tensor } from "../../engine/tensor";

export function matrixOf(reply: BenchReply, name: string): BenchMatrix | null {
  return reply.matrices.find((matrix) => matrix.name === name) ?? null;
}

/** The chosen query's row; null where the reply has no such matrix. */
export function queryRow(reply: BenchReply, name: string): number[] | null {
  const matrix = matrixOf(reply, name);
  return matrix ? rowOf(matrix.values, reply.query - matrix.first_row) : null;
}

/** What the weights of the chosen query add up to: 1, or 0 where it sees nothing; less than 1 beside a sink. */
export function weightTotal(reply: BenchReply): number {
  const total = (queryRow(reply, "weights") ?? [1]).reduce((sum, weight) => sum + weight, 0);
  return Math.abs(total - 1) < 1e-6 ? 1 : total;
}

/** Forward matrices of queries by keys, from the dot products to the scores that the softmax takes. */
export const scoreNames = ["raw", "scaled", "softcapped", "biased", "masked"] as const;

export function finalScores(reply: BenchReply): BenchMatrix | null {
  return scoreNames.map((name) => matrixOf(reply, name)).findLast((matrix) => matrix !== null) ?? null;
}

/** The gradient of each matrix of the bench. */
export const gradientOf: Readonly<Record<string, string>> = {
  x: "d_x",
  source: "d_source",
  w_q: "d_w_q",
  w_k: "d_w_k",
  w_v: "d_w_v",
  q: "d_q",
  k: "d_k",
  v: "d_v",
  raw: "d_raw",
  scores: "d_scores",
  weights: "d_weights",
  out: "d_out",
};

export function kindOf(name: string): "q" | "k" | "v" | undefined {
  const last = name.replace(/^d_/, "").replace(/^w_/, "");
  return last === "q" || last === "k" || last === "v" ? last : undefined;
}

export function isHidden(matrix: BenchMatrix, row: number, column: number): boolean {
  return matrix.hidden !== null && valueAt(matrix.hidden, row, column) === 1;
}

/** The scale of a matrix alone, about 0. */
export function ownScale(matrix: BenchMatrix): Scale {
  const most = largest([matrix]);
  return { map: "diverging", least: -most, most };
}

function largest(matrices: readonly BenchMatrix[]): number {
  let most = 0;
  for (const { values } of matrices) {
    for (const value of values.values)
      if (Number.isFinite(Number(value))) most = Math.max(most, Math.abs(Number(value)));
  }
  return most;
}

/** Weights on one scale from 0 to 1; all scores on one about 0, so that scaling is seen to shrink them. */
export function scaleOf(reply: BenchReply, matrix: BenchMatrix): Scale | null {
  const { name } = matrix;
  if (name === "weights" || name === "exp") return { map: "sequential", least: 0, most: 1 };
  const scores = scoreNames as readonly string[];
  const together = scores.includes(name) ? reply.matrices.filter((one) => scores.includes(one.name)) : null;
  if (!together && matrix.role !== "backward") return null;
  if (!together) return ownScale(matrix);
  const most = largest(together);
  return { map: "diverging", least: -most, most };
}

export function isSmall({ values }: { values: Tensor }): boolean {
  const { rows, columns } = sizeOf(values);
  return rows <= 12 && columns <= 12;
}

/** "weights: how much …" is "weights". */
export function briefly(meaning: string): string {
  const at = meaning.indexOf(":");
  return at > 0 ? meaning.slice(0, at) : "";
}

/** All digits, with the names of rows and columns. */
export function csvOf(matrix: BenchMatrix): string {
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [["", ...matrix.columns].map(quoted).join(",")];
  matrix.rows.forEach((label, row) => lines.push([quoted(label), ...rowOf(matrix.values, row).map(String)].join(",")));
  return `${lines.join("\r\n")}\r\n`;
}
