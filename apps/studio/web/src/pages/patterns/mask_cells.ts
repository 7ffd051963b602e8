// Which pairs a cell of the map stands for, and what is done with them.

import type { Cell } from "../../drawing/grid";
import type { MaskFigures, MaskMap } from "../../engine/messages";
import { sizeOf, valueAt } from "../../engine/tensor";

/** A mask with its map. */
export type DrawnMask = MaskFigures & MaskMap;

export function drawnMask(reply: MaskFigures): DrawnMask {
  if (!reply.map) throw new Error("the reply to mask has no map");
  return { ...reply, ...reply.map };
}

export type CellClass = "skip" | "full" | "partial";

export interface Span {
  first: number;
  last: number;
  tiles: number;
}

export interface CellMeaning {
  queries: Span;
  keys: Span;
  share: number;
  kind: CellClass;
}

/** Whether each cell is one pair. */
export function isPairwise(reply: DrawnMask): boolean {
  const { rows, columns } = sizeOf(reply.share);
  return rows === reply.tq && columns === reply.tk;
}

/** The positions of cell `cell` of `cells`, which share the tiles of n positions as evenly as whole tiles allow. */
export function spanOf(cell: number, cells: number, n: number, tile: number): Span {
  if (cells === n) return { first: cell, last: cell, tiles: 1 };
  const tiles = Math.ceil(n / tile);
  const from = Math.floor((cell * tiles) / cells);
  const to = Math.floor(((cell + 1) * tiles) / cells);
  return { first: from * tile, last: Math.min(to * tile, n) - 1, tiles: to - from };
}

export function meaningOf(reply: DrawnMask, cell: Cell): CellMeaning {
  const { rows, columns } = sizeOf(reply.share);
  const queries = spanOf(cell.row, rows, reply.tq, reply.tile_queries);
  const keys = spanOf(cell.column, columns, reply.tk, reply.tile_keys);
  const share = valueAt(reply.share, cell.row, cell.column);
  const kind = isPairwise(reply) ? tileClass(reply, tileOf(reply, cell)) : classOf(share);
  return { queries, keys, share, kind };
}

export function classOf(share: number): CellClass {
  if (share === 0) return "skip";
  return share === 1 ? "full" : "partial";
}

export interface Tile {
  top: number;
  left: number;
  bottom: number; // one past the last
  right: number;
}

function tileOf(reply: DrawnMask, { row, column }: Cell): Tile {
  return tileAt(reply, Math.floor(row / reply.tile_queries), Math.floor(column / reply.tile_keys));
}

function tileAt(reply: DrawnMask, row: number, column: number): Tile {
  const [top, left] = [row * reply.tile_queries, column * reply.tile_keys];
  return {
    top,
    left,
    bottom: Math.min(top + reply.tile_queries, reply.tq),
    right: Math.min(left + reply.tile_keys, reply.tk),
  };
}

/** The tiles of a map of pairs, each with its class. */
export function tilesOf(reply: DrawnMask): { tile: Tile; kind: CellClass }[] {
  const [rows, columns] = [Math.ceil(reply.tq / reply.tile_queries), Math.ceil(reply.tk / reply.tile_keys)];
  return Array.from({ length: rows * columns }, (_, n) => {
    const tile = tileAt(reply, Math.floor(n / columns), n % columns);
    return { tile, kind: tileClass(reply, tile) };
  });
}

function tileClass(reply: DrawnMask, { top, left, bottom, right }: Tile): CellClass {
  let hasVisible = false;
  let hasHidden = false;
  for (let row = top; row < bottom; ++row) {
    for (let column = left; column < right; ++column) {
      if (valueAt(reply.share, row, column) === 0) hasHidden = true;
      else hasVisible = true;
    }
  }
  if (!hasVisible) return "skip";
  return hasHidden ? "partial" : "full";
}

/** The row of cells that a query is in. */
export function rowOfQuery(reply: DrawnMask, query: number): number {
  const { rows } = sizeOf(reply.share);
  if (rows === reply.tq) return query;
  let row = 0;
  while (row + 1 < rows && spanOf(row, rows, reply.tq, reply.tile_queries).last < query) ++row;
  return row;
}
