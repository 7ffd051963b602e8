// A tile as the page holds it: its weights as logarithms, and its picture in the colours of the moment.

import { colourOf } from "../../drawing/colour";
import type { Ground } from "../../drawing/palette";
import type { FarTile } from "../../engine/messages";
import type { Tensor } from "../../engine/tensor";
import type { Shown } from "./state";

/** What the darkest colour stands for, and all below it. */
export const leastPower = -8; // of 10
const span = -leastPower * Math.log2(10);

export interface HeldTile {
  rows: number;
  columns: number;
  /** log2; null where the mask hides all. */
  mean: Float32Array | null;
  largest: Float32Array | null;
  visible: Uint8Array | null;
  queries: readonly string[];
  keys: readonly string[];
  every: number;
  picture: { of: string; canvas: HTMLCanvasElement } | null;
}

export function heldTile(tile: FarTile): HeldTile {
  const [rows = 0, columns = 0] = (tile.largest as Tensor | null)?.shape ?? [];
  const values = <V>(tensor: unknown) => (tensor === null ? null : ((tensor as Tensor).values as V));
  return {
    rows,
    columns,
    mean: values<Float32Array>(tile.mean),
    largest: values<Float32Array>(tile.largest),
    visible: values<Uint8Array>(tile.visible),
    queries: tile.queries,
    keys: tile.keys,
    every: tile.every,
    picture: null,
  };
}

/** With the picture that it will have. */
export function bytesOf({ rows, columns, queries, keys }: HeldTile): number {
  const wordBytes = 40;
  return 1024 + rows * columns * (4 + 4 + 1 + 4) + (queries.length + keys.length) * wordBytes;
}

/** The colour of a weight given as its base-2 logarithm: 0 for 10⁻⁸ and less, 1 for 1. */
export function shade(logarithm: number): number {
  return Math.min(Math.max(1 + logarithm / span, 0), 1);
}

const steps = 256;

/** 256 colours, and one for what is no number. */
function tableOf(ground: Ground): Uint8Array {
  const table = new Uint8Array((steps + 1) * 4);
  for (let n = 0; n < steps; ++n) {
    const colour = parseInt(colourOf("sequential", n / (steps - 1), ground).slice(1), 16);
    table.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], 4 * n);
  }
  table.set([214, 58, 48, 255], 4 * steps);
  return table;
}

const tables = new Map<Ground, Uint8Array>();

/** RGBA, one pixel a cell; what is hidden is transparent, so that the hatching below shows. */
export function cellColours(tile: HeldTile, shown: Shown, ground: Ground): Uint8ClampedArray {
  const table = tables.get(ground) ?? tableOf(ground);
  tables.set(ground, table);
  const bytes = new Uint8ClampedArray(tile.rows * tile.columns * 4);
  const logarithms = tile[shown];
  if (!logarithms || !tile.visible) return bytes;
  for (let n = 0; n < logarithms.length; ++n) {
    if (tile.visible[n] === 0) continue;
    const value = logarithms[n]!;
    const at = 4 * (Number.isNaN(value) ? steps : Math.round(shade(value) * (steps - 1)));
    bytes[4 * n] = table[at]!;
    bytes[4 * n + 1] = table[at + 1]!;
    bytes[4 * n + 2] = table[at + 2]!;
    bytes[4 * n + 3] = 255;
  }
  return bytes;
}

/** Made once for what is shown and the ground. */
export function pictureOf(tile: HeldTile, shown: Shown, ground: Ground): HTMLCanvasElement | null {
  if (!tile.largest) return null;
  const of = `${shown} ${ground}`;
  if (tile.picture?.of === of) return tile.picture.canvas;
  const canvas = tile.picture?.canvas ?? document.createElement("canvas");
  canvas.width = tile.columns;
  canvas.height = tile.rows;
  const context = canvas.getContext("2d");
  if (!context) return null;
  const image = context.createImageData(tile.columns, tile.rows);
  image.data.set(cellColours(tile, shown, ground));
  context.putImageData(image, 0, 0);
  tile.picture = { of, canvas };
  return canvas;
}

/** The whole matrix in one tile, with the rows of a band of it put in their place. */
export function withBand(whole: HeldTile, band: HeldTile, firstRow: number): HeldTile {
  const from = firstRow * whole.columns;
  if (!whole.largest) return band.largest && band.rows === whole.rows ? band : whole;
  const put = <V extends Float32Array | Uint8Array>(all: V | null, part: V | null, nothing: number): V | null => {
    const next = all!.slice() as V;
    if (part) next.set(part, from);
    else next.fill(nothing, from, from + band.rows * whole.columns);
    return next;
  };
  return {
    ...whole,
    mean: put(whole.mean, band.mean, -Infinity),
    largest: put(whole.largest, band.largest, -Infinity),
    visible: put(whole.visible, band.visible, 0),
    picture: null,
  };
}
