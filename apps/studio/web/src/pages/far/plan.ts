// Which tiles are asked for: exact ones where that is quick or the walk has been there, else from every n-th query.

import { areaOf, cellSide, levelAt, tileCells, tilesSeen, type Extent, type Size, type Spot, type TileAt, type View } from "../../drawing/tiles";
import type { FarReply } from "../../engine/messages";

/** Pairs that a tile may cost before it is sampled. */
const mostPairs = 1e9;

export interface Matrix extends Extent {
  levels: number;
  /** The level that is walked; its rows of tiles are the bands. */
  base: number;
}

export function matrixOf(reply: FarReply): Matrix {
  return { queries: reply.queries, keys: reply.keys, levels: reply.levels.length, base: reply.base };
}

export function bandQueries({ base }: Matrix): number {
  return tileCells * cellSide(base);
}

/** 1 for an exact tile; n: from every n-th query; null where all that the walk has not reached is only in the whole. */
export function samplingOf(tile: TileAt, matrix: Matrix, isWalked: (from: number, to: number) => boolean): number | null {
  const { fromQuery, toQuery } = areaOf(tile, matrix);
  if (isWalked(fromQuery, toQuery)) return 1;
  if (tile.level >= matrix.levels - 2) return null;
  const pairs = (toQuery - fromQuery) * matrix.keys; // the whole rows, for the sum below their weights
  let every = tile.level >= Math.max(matrix.base, 1) ? 2 : 1;
  while (every < cellSide(tile.level) && pairs / every > mostPairs) every *= 2;
  return every;
}

/** For each tile in view, the nearest to `focus` first: the tile itself, or its estimate. */
export function wantedTiles(view: View, size: Size, matrix: Matrix, focus: Spot, isWalked: (from: number, to: number) => boolean): TileAt[] {
  return tilesSeen(view, size, matrix, levelAt(view.scale, matrix.levels), focus).flatMap((tile) => {
    const every = samplingOf(tile, matrix, isWalked);
    return every === null ? [] : [{ ...tile, every }];
  });
}

/** What is held of a tile: exact, or the finest estimate. */
export function heldOf<T>(tile: TileAt, has: (tile: TileAt) => T | undefined): T | undefined {
  for (let every = 1; every <= cellSide(tile.level); every *= 2) {
    const found = has({ ...tile, every });
    if (found !== undefined) return found;
  }
  return undefined;
}
