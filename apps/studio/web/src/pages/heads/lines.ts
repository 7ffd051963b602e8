// Which weights are drawn as lines, and where: the strongest first, and no more than can be told apart.

export const mostLines = 4000;

export interface LineOf {
  query: number;
  key: number;
  weight: number;
}

/** The heaviest pairs above `least`, at most `most`, the lightest first so that the heaviest are painted last. */
export function strongest(weights: ArrayLike<number>, columns: number, least: number, most = mostLines): LineOf[] {
  const places: number[] = [];
  for (let n = 0; n < weights.length; ++n) if (weights[n]! > least) places.push(n);
  places.sort((a, b) => weights[b]! - weights[a]!);
  return places
    .slice(0, most)
    .reverse()
    .map((n) => ({ query: Math.floor(n / columns), key: n % columns, weight: weights[n]! }));
}

export interface LinesLayout {
  width: number;
  height: number;
  left: number; // where lines begin and end
  right: number;
  queryPitch: number;
  keyPitch: number;
  top: number;
}

const narrowestSide = 48; // room for "is read"
const most = 26; // pixels a token
const least = 3;

export function linesLayout(queries: number, keys: number, labelWidth: number, width: number, tall: number): LinesLayout {
  const top = 28;
  const longer = Math.max(queries, keys);
  const pitch = Math.min(Math.max((tall - top) / longer, least), most);
  const side = Math.min(Math.max(labelWidth, narrowestSide) + 14, width * 0.3);
  const height = top + pitch * longer + 8;
  const wide = Math.min(width, side * 2 + 420);
  return {
    width: wide,
    height,
    left: side,
    right: wide - side,
    queryPitch: (pitch * longer) / queries > most ? most : (pitch * longer) / queries,
    keyPitch: (pitch * longer) / keys > most ? most : (pitch * longer) / keys,
    top,
  };
}

export function queryY(layout: LinesLayout, query: number): number {
  return layout.top + (query + 0.5) * layout.queryPitch;
}

export function keyY(layout: LinesLayout, key: number): number {
  return layout.top + (key + 0.5) * layout.keyPitch;
}

/** The token under a point: a query left of the middle, a key right of it. */
export function tokenAt(layout: LinesLayout, queries: number, keys: number, x: number, y: number): { query: number | null; key: number | null } {
  const isQuery = x < (layout.left + layout.right) / 2;
  const n = Math.floor((y - layout.top) / (isQuery ? layout.queryPitch : layout.keyPitch));
  const within = n >= 0 && n < (isQuery ? queries : keys);
  return { query: within && isQuery ? n : null, key: within && !isQuery ? n : null };
}

/** Every how many tokens a label has room. */
export function labelEvery(pitch: number): number {
  return Math.max(1, Math.ceil(13 / pitch));
}
