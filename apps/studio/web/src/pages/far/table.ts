// What is seen, as a table: one row a cell row, one column a cell column, weights with the digits that tiles have.

import { quoted } from "../../drawing/csv";
import { cellSide, levelAt, seenArea, type Size, type TileAt, type View } from "../../drawing/tiles";
import type { Tensor } from "../../engine/tensor";
import type { HeldTile } from "./held";
import type { Matrix } from "./plan";
import type { Shown } from "./state";
import { cellValue } from "./values";

export interface Seen {
  view: View;
  size: Size;
  matrix: Matrix;
  shown: Shown;
  held: (tile: TileAt) => HeldTile | undefined;
  whole: HeldTile;
  words: { query: (at: number) => string | null; key: (at: number) => string | null };
}

interface SeenCells {
  side: number; // pairs along a cell
  queries: number[]; // the first of each row of cells
  keys: number[];
  at(query: number, key: number): number | null; // null where hidden or not there yet
}

function cellsOf({ view, size, matrix, shown, held, whole }: Seen): SeenCells {
  const side = cellSide(levelAt(view.scale, matrix.levels));
  const area = seenArea(view, size, matrix);
  const starts = (from: number, to: number) => {
    const first = Math.floor(from / side);
    return Array.from({ length: Math.max(0, Math.ceil(to / side) - first) }, (_, n) => (first + n) * side);
  };
  const at = (query: number, key: number) => {
    const value = cellValue({ query, key }, view, matrix, held, whole);
    return value === null || value.hidden ? null : value[shown];
  };
  return { side, queries: starts(area.fromQuery, area.toQuery), keys: starts(area.fromKey, area.toKey), at };
}

/** The first row names the first key of each column, the first column the first query of each row; hidden cells are empty. */
export function csvOfSeen(seen: Seen): string {
  const { side, queries, keys, at } = cellsOf(seen);
  const named = (place: number, word: string | null) => quoted(word === null ? String(place) : `${place} ${word}`);
  const { words } = seen;
  const lines = [[`${seen.shown} weight of ${side} x ${side} pairs`, ...keys.map((key) => named(key, side === 1 ? words.key(key) : null))].join(",")];
  for (const query of queries) {
    const cells = keys.map((key) => at(query, key)?.toPrecision(3) ?? "");
    lines.push([named(query, side === 1 ? words.query(query) : null), ...cells].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

/** The same cells as an array; hidden ones are NaN. */
export function arrayOfSeen(seen: Seen): Tensor {
  const { queries, keys, at } = cellsOf(seen);
  const values = Float32Array.from(queries.flatMap((query) => keys.map((key) => at(query, key) ?? NaN)));
  return { dtype: "f32", shape: [queries.length, keys.length], values };
}
