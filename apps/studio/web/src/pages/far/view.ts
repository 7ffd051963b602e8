// Where the reader stands before the matrix: moving, zooming, and the flight from one place to another.

import { cellSide, type Extent, type Size, type Spot, type View } from "../../drawing/tiles";

export const largestScale = 56; // pixels of a pair

/** Everything, beside its axes. */
export function wholeView(extent: Extent, size: Size): View {
  return { scale: wholeScale(extent, size), query: 0, key: 0 };
}

export function wholeScale(extent: Extent, { width, height }: Size): number {
  return Math.min(width / extent.keys, height / extent.queries, largestScale);
}

export function centred({ query, key }: Spot, scale: number, { width, height }: Size): View {
  return { scale, query: query - height / scale / 2, key: key - width / scale / 2 };
}

export function centreOf(view: View, { width, height }: Size): Spot {
  return { query: view.query + height / view.scale / 2, key: view.key + width / view.scale / 2 };
}

/** Within the matrix: what is smaller than the picture lies at its axes, and nothing is farther away than all of it. */
export function bounded(view: View, extent: Extent, size: Size): View {
  const scale = Math.min(Math.max(view.scale, wholeScale(extent, size)), largestScale);
  const kept = scale === view.scale ? view : centred(centreOf(view, size), scale, size);
  const along = (at: number, room: number, all: number) => (room >= all ? 0 : Math.min(Math.max(at, 0), all - room));
  return {
    scale,
    query: along(kept.query, size.height / scale, extent.queries),
    key: along(kept.key, size.width / scale, extent.keys),
  };
}

/** The same place stays below the pixel (x, y). */
export function zoomed(view: View, by: number, x: number, y: number, extent: Extent, size: Size): View {
  const scale = Math.min(Math.max(view.scale * by, wholeScale(extent, size)), largestScale);
  const moved = { scale, query: view.query + y / view.scale - y / scale, key: view.key + x / view.scale - x / scale };
  return bounded(moved, extent, size);
}

export function panned(view: View, dx: number, dy: number, extent: Extent, size: Size): View {
  return bounded({ ...view, query: view.query - dy / view.scale, key: view.key - dx / view.scale }, extent, size);
}

export function spotAt(view: View, x: number, y: number): Spot {
  return { query: view.query + y / view.scale, key: view.key + x / view.scale };
}

/** How far a cell of the level reaches from this spot, clipped. */
export function cellAt({ query, key }: Spot, level: number, extent: Extent) {
  const side = cellSide(level);
  const from = (at: number) => Math.floor(at / side) * side;
  return {
    fromQuery: from(query),
    toQuery: Math.min(from(query) + side, extent.queries),
    fromKey: from(key),
    toKey: Math.min(from(key) + side, extent.keys),
  };
}

/** Between two views, at `t` from 0 to 1: one spot stays below one pixel, so that the picture grows and does not swing. */
export function onTheWay(from: View, to: View, t: number): View {
  if (t >= 1) return to;
  const scale = from.scale * (to.scale / from.scale) ** t;
  const share = from.scale === to.scale ? t : (1 / scale - 1 / from.scale) / (1 / to.scale - 1 / from.scale);
  return { scale, query: from.query + (to.query - from.query) * share, key: from.key + (to.key - from.key) * share };
}

/** Slow, fast, slow. */
export function eased(t: number): number {
  return t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
}
