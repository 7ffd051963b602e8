// One query's row of weights, in the order of what it reads most.

import type { Scale } from "../../drawing/colour";
import { rowOf, valueAt, type Tensor } from "../../engine/tensor";

export interface Read {
  key: number;
  weight: number;
  hidden: boolean;
}

/** Keys by falling weight; hidden ones last. */
export function readsOf(weights: Tensor, hidden: Tensor | null, query: number): Read[] {
  const reads = rowOf(weights, query).map((weight, key) => ({ key, weight, hidden: isHidden(hidden, query, key) }));
  return reads.sort((a, b) => Number(a.hidden) - Number(b.hidden) || b.weight - a.weight || a.key - b.key);
}

/** The key that the query reads most; of a row of zeros, the first. */
export function heaviestKey(weights: Tensor, query: number): number {
  const row = rowOf(weights, query);
  return row.reduce((best, weight, key) => (weight > row[best]! ? key : best), 0);
}

export function isHidden(hidden: Tensor | null, query: number, key: number): boolean {
  return hidden !== null && valueAt(hidden, query, key) === 1;
}

/** All weights with all digits. */
export function csvOf(queries: readonly string[], keys: readonly string[], weights: Tensor): string {
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [["", ...keys].map(quoted).join(",")];
  queries.forEach((query, row) => lines.push([quoted(query), ...rowOf(weights, row).map(String)].join(",")));
  return `${lines.join("\r\n")}\r\n`;
}

/** One scale for signed numbers of several rows. */
export function aboutZero(...tensors: Tensor[]): Scale {
  const most = Math.max(...tensors.flatMap((tensor) => rowOf(tensor, 0).map(Math.abs)), 1e-9);
  return { map: "diverging", least: -most, most };
}
