// Patches of a picture: row by row, the last of their places (a class token may come before them).

export interface Patches {
  side: number;
  /** The place of the first patch among the keys. */
  first: number;
}

export function patchesOf(side: number, places: number): Patches {
  return { side, first: places - side * side };
}

/** The place of the patch at a point of the picture, in parts of its width and height; null beside it. */
export function patchAt({ side, first }: Patches, x: number, y: number): number | null {
  const [column, row] = [Math.floor(x * side), Math.floor(y * side)];
  const isInside = column >= 0 && row >= 0 && column < side && row < side;
  return isInside ? first + row * side + column : null;
}

/** Row and column of a place; null for one that is no patch. */
export function spotOf({ side, first }: Patches, place: number): { row: number; column: number } | null {
  const n = place - first;
  return n < 0 ? null : { row: Math.floor(n / side), column: n % side };
}

const thickest = 0.85;

/** How thick the veil over each patch is: none over the one that is read most. */
export function veils({ side, first }: Patches, row: readonly number[]): number[] {
  const weights = row.slice(first, first + side * side);
  const most = Math.max(...weights);
  return weights.map((weight) => (most > 0 ? thickest * (1 - weight / most) : thickest));
}
