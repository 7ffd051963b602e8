// The picture that a model sees, as marks: its own colours, a veil over what is not read, frames about who asks and what is read.

import type { Mark } from "../../drawing/marks";
import type { HeadReply, HeadsReply, HeadsSite } from "../../engine/messages";
import { rowOf, type Tensor } from "../../engine/tensor";
import { patchesOf, spotOf, veils } from "./patches";
import type { Cell } from "./state";

const thick = 3;

export interface Seen {
  all: HeadsReply;
  site: HeadsSite;
  head: HeadReply;
  cell: Cell;
  image: Tensor;
  bytes: Uint8ClampedArray;
}

/** `size` pixels a side. */
export function pictureMarks({ all, site, head, cell, image, bytes }: Seen, size: number): Mark[] {
  const patches = patchesOf(all.patches, head.keys.length);
  const [rows = 0, columns = 0] = image.shape;
  const wide = size / patches.side;
  const veil = veils(patches, rowOf(head.weights, cell.query)).map((opacity, n): Mark => {
    const [x, y] = [(n % patches.side) * wide, Math.floor(n / patches.side) * wide];
    return { kind: "box", x, y, width: wide, height: wide, fill: "ground", opacity };
  });
  const frame = (place: number, stroke: "q" | "k"): Mark[] => {
    const spot = spotOf(patches, place);
    if (!spot) return [];
    const [x, y] = [spot.column * wide + thick / 2, spot.row * wide + thick / 2];
    return [{ kind: "box", x, y, width: wide - thick, height: wide - thick, stroke, thick }];
  };
  return [
    { kind: "pixels", x: 0, y: 0, width: size, height: size, columns, rows, bytes },
    ...veil,
    ...frame(cell.key, "k"),
    ...(site.asks_from_patches ? frame(cell.query, "q") : []),
  ];
}

/** Where nothing is pointed at: the first patch, by itself or by the first word. */
export function cellShown(shown: Cell | null, all: HeadsReply, site: HeadsSite, head: HeadReply): Cell {
  const { first } = patchesOf(all.patches, head.keys.length);
  return shown ?? { query: site.asks_from_patches ? first : 0, key: first };
}
