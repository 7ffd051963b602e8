// What is seen, as a table: one row a cell row, one column a cell column, weights with the digits that tiles have.

import { quoted } from "../../drawing/csv";
import { cellSide, levelAt, seenArea, type Size, type TileAt, type View } from "../../drawing/tiles";
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

/** The first row names the first key of each column, the first column the first query of each row; hidden cells are empty. */
export function csvOfSeen({ view, size, matrix, shown, held, whole, words }: Seen): string {
  const side = cellSide(levelAt(view.scale, matrix.levels));
  const area = seenArea(view, size, matrix);
  const starts = (from: number, to: number) => {
    const first = Math.floor(from / side);
    return Array.from({ length: Math.max(0, Math.ceil(to / side) - first) }, (_, n) => (first + n) * side);
  };
  const keys = starts(area.fromKey, area.toKey);
  const named = (at: number, word: string | null) => quoted(word === null ? String(at) : `${at} ${word}`);
  const lines = [[`${shown} weight of ${side} x ${side} pairs`, ...keys.map((at) => named(at, side === 1 ? words.key(at) : null))].join(",")];
  for (const query of starts(area.fromQuery, area.toQuery)) {
    const cells = keys.map((key) => {
      const value = cellValue({ query, key }, view, matrix, held, whole);
      return value === null || value.hidden ? "" : value[shown].toPrecision(3);
    });
    lines.push([named(query, side === 1 ? words.query(query) : null), ...cells].join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}
