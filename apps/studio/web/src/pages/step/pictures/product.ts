// Q, K transposed and their product as three grids; products pile up in every cell at once.

import { coloured, textColourOn, type Scale } from "../../../drawing/colour";
import type { Drawing, Mark, Paint } from "../../../drawing/marks";
import { shown } from "../../../drawing/numbers";
import type { Ground } from "../../../drawing/palette";
import type { ProductPicture } from "../../../engine/messages";
import { valueAt, type Tensor } from "../../../engine/tensor";

export interface ProductLook {
  picture: ProductPicture;
  q: Tensor;
  k: Tensor;
  /** How many products of each cell are in its sum. */
  at: number;
  cell: readonly [number, number];
  decimals: number;
  ground: Ground;
}

const side = 44;
const gap = 30;
const labelWide = 52;

export interface ProductDrawing extends Drawing {
  /** The cell at a place of the drawing, if there is one. */
  cellAt: (x: number, y: number) => [number, number] | null;
}

/** q[i, c] k[j, c], and the sum of the products up to `count`. */
export function sumAt({ sums, keys }: ProductPicture, row: number, column: number, count: number): number {
  if (count <= 0) return 0;
  const width = sums.shape[2] ?? 1;
  return Number(sums.values[(row * keys.length + column) * width + count - 1]);
}

export function productDrawing(look: ProductLook): ProductDrawing {
  const { picture, q, k, at, cell, decimals } = look;
  const width = picture.sums.shape[2] ?? 1;
  const count = Math.floor(at + 1e-9);
  const [rows, columns] = [picture.queries.length, picture.keys.length];
  const left = labelWide + width * side + gap;
  const top = 24 + width * side + gap;
  const marks: Mark[] = [];
  const active = Math.min(Math.ceil(at) - 1, width - 1); // the column whose products are being added
  const box = (x: number, y: number, value: number, kind: Paint, lit: boolean, strong: boolean, fill?: Paint): void => {
    marks.push({ kind: "box", x, y, width: side - 3, height: side - 3, radius: 4, fill: fill ?? "paper", stroke: lit ? kind : "rule", thick: strong ? 3 : lit ? 2 : 1 });
    const ink: Paint = fill?.startsWith("#") ? textColourOn(fill) : "ink";
    marks.push({ kind: "label", x: x + (side - 3) / 2, y: y + (side - 3) / 2, text: shown(value, decimals), anchor: "middle", size: 13, fill: ink });
  };
  const name = (x: number, y: number, text: string, anchor: "start" | "middle" | "end", bold = false, fill: Paint = "ink"): void => {
    marks.push({ kind: "label", x, y, text, anchor, size: 13, bold, fill });
  };
  name(labelWide, top - 12, "Q", "start", true, "q");
  name(left - 10, 24 + 8, "Kᵀ", "end", true, "k");
  name(left - 6, top - 12, "S", "end", true);
  picture.queries.forEach((word, row) => {
    name(labelWide - 8, top + row * side + side / 2, clipped(word), "end");
    for (let c = 0; c < width; ++c) {
      box(labelWide + c * side, top + row * side, valueAt(q, row, c), "q", row === cell[0], row === cell[0] && c === active);
    }
  });
  const largest = Math.max(1e-12, ...Array.from({ length: picture.sums.values.length }, (_, n) => Math.abs(Number(picture.sums.values[n]))));
  const scale: Scale = { map: "diverging", least: -largest, most: largest };
  picture.keys.forEach((word, column) => {
    name(left + column * side + side / 2, 10, clipped(word), "middle");
    for (let c = 0; c < width; ++c) {
      box(left + column * side, 24 + c * side, valueAt(k, column, c), "k", column === cell[1], column === cell[1] && c === active);
    }
  });
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const value = sumAt(picture, row, column, count);
      const here = row === cell[0] && column === cell[1];
      box(left + column * side, top + row * side, value, "accent", here, here, coloured(scale, value, look.ground));
    }
  }
  const height = top + rows * side + 4;
  return {
    width: left + columns * side + 4,
    height,
    title: `Q times K transposed, ${count} of ${width} products of each cell added`,
    marks,
    cellAt: (x, y) => {
      const [row, column] = [Math.floor((y - top) / side), Math.floor((x - left) / side)];
      return row >= 0 && row < rows && column >= 0 && column < columns ? [row, column] : null;
    },
  };
}

function clipped(word: string): string {
  return word.length > 6 ? `${word.slice(0, 5)}…` : word;
}
