// The weight at a spot, as far as the tiles that are here know it, and how it is written.

import { cellSide, levelAt, pieceFor, tileCells, type Spot, type TileAt, type View } from "../../drawing/tiles";
import { withMinus } from "../../drawing/numbers";
import { cellAt } from "./view";
import { heldOf, type Matrix } from "./plan";
import type { HeldTile } from "./held";

export interface CellValue {
  fromQuery: number;
  toQuery: number;
  fromKey: number;
  toKey: number;
  hidden: boolean;
  /** Of its pairs, how many are seen. */
  visible: number;
  mean: number;
  largest: number;
  every: number;
}

/** The cell below a spot; null outside of the matrix, or while nothing is known of it. */
export function cellValue(spot: Spot, view: View, matrix: Matrix, held: (tile: TileAt) => HeldTile | undefined, whole: HeldTile): CellValue | null {
  if (spot.query < 0 || spot.key < 0 || spot.query >= matrix.queries || spot.key >= matrix.keys) return null;
  const last = matrix.levels - 1;
  const level = levelAt(view.scale, matrix.levels);
  const side = tileCells * cellSide(level);
  const tile = { level, row: Math.floor(spot.query / side), column: Math.floor(spot.key / side), every: 1 };
  const piece = pieceFor(tile, matrix, matrix.levels, (one) => heldOf(one, held) ?? (one.level === last ? whole : undefined));
  if (!piece) return null;
  const { from, held: found } = piece;
  const cell = cellAt(spot, from.level, matrix);
  const place = (at: number) => Math.floor(at / cellSide(from.level)) % tileCells;
  const at = place(spot.query) * found.columns + place(spot.key);
  const { largest, mean, visible } = found;
  if (!largest || !mean || !visible) return { ...cell, hidden: true, visible: 0, mean: 0, largest: 0, every: found.every };
  return { ...cell, hidden: visible[at] === 0, visible: visible[at]! / 255, mean: 2 ** mean[at]!, largest: 2 ** largest[at]!, every: found.every };
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** "0.3936", "0.0021", "2.92 × 10⁻⁷"; so many digits. */
export function weightText(weight: number, digits = 4): string {
  if (Number.isNaN(weight)) return "NaN";
  if (weight === 0) return "0";
  if (weight >= 1) return weight.toFixed(digits - 1);
  if (weight >= 1e-4) return withMinus(Number(weight.toPrecision(digits)).toFixed(Math.min(digits + Math.max(0, -Math.ceil(Math.log10(weight))), 8)));
  const [mantissa = "", power = ""] = weight.toExponential(Math.min(digits - 1, 2)).split("e");
  const raised = [...power].map((digit) => (digit === "-" ? "⁻" : (superscripts[Number(digit)] ?? ""))).join("");
  return `${mantissa} × 10${raised}`;
}

const large: readonly [number, string][] = [
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
];

/** "1 in 3.4 million" */
export function oneIn(weight: number): string {
  if (!(weight > 0)) return "";
  const count = 1 / weight;
  if (count >= 1e15) return ""; // no one has a word for it
  const [unit, name] = large.find(([one]) => count >= one) ?? [1, ""];
  const amount = count / unit;
  const text = amount >= 10 || name === "" && amount >= 100 ? Math.round(amount).toLocaleString("en-US") : amount.toFixed(1).replace(/\.0$/, "");
  return `1 in ${text}${name === "" ? "" : ` ${name}`}`;
}
