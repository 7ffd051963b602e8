// Which weights are drawn as lines, and where: the strongest first, and no more than can be told apart.

import { shortened } from "../../drawing/heatmap_layout";
import type { Mark } from "../../drawing/marks";

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

/** Lines by their weight; those of the chosen token stand out. */
export function lineMarks(layout: LinesLayout, lines: readonly LineOf[], query: number | null, key: number | null): Mark[] {
  const isChosen = (line: LineOf) => (key !== null ? line.key === key : line.query === query);
  const any = key !== null || query !== null;
  const others = lines.filter((line) => !any || !isChosen(line)).map((line) => lineMark(layout, line, any ? 0.16 : 0.75));
  return any ? [...others, ...lines.filter(isChosen).map((line) => lineMark(layout, line, 1))] : others;
}

function lineMark(layout: LinesLayout, { query, key, weight }: LineOf, strength: number): Mark {
  return {
    kind: "line",
    points: [
      [layout.left, queryY(layout, query)],
      [layout.right, keyY(layout, key)],
    ],
    curved: true,
    stroke: "accent",
    thick: 0.6 + 4 * weight,
    opacity: strength * Math.min(0.08 + 0.92 * weight, 1),
  };
}

export interface Sides {
  queries: readonly string[];
  keys: readonly string[];
  query: number | null;
  key: number | null;
  /** The place where a second text begins. */
  second: number | null;
}

/** The tokens on both sides. */
export function sideMarks(layout: LinesLayout, sides: Sides): Mark[] {
  const title = (text: string, x: number, anchor: "start" | "end", fill: "q" | "k"): Mark => ({ kind: "label", x, y: 10, text, anchor, fill, bold: true, size: 12 });
  return [
    ...tokenMarks(layout, sides.queries, true, sides.query),
    ...tokenMarks(layout, sides.keys, false, sides.key),
    title("asks", layout.left - 8, "end", "q"),
    title("is read", layout.right + 8, "start", "k"),
    ...(sides.second === null ? [] : boundaryMarks(layout, sides.second)),
  ];
}

function boundaryMarks(layout: LinesLayout, second: number): Mark[] {
  const line = (from: number, to: number, y: number): Mark => ({ kind: "line", points: [[from, y], [to, y]], stroke: "soft", thick: 1, dashed: true });
  return [line(0, layout.left, queryY(layout, second - 0.5)), line(layout.right, layout.width, keyY(layout, second - 0.5))];
}

function tokenMarks(layout: LinesLayout, tokens: readonly string[], isQuery: boolean, chosen: number | null): Mark[] {
  const every = labelEvery(isQuery ? layout.queryPitch : layout.keyPitch);
  return tokens.flatMap((token, n): Mark[] => {
    if (n % every !== 0 && n !== chosen) return [];
    const y = isQuery ? queryY(layout, n) : keyY(layout, n);
    const side = isQuery ? ({ x: layout.left - 8, anchor: "end" } as const) : ({ x: layout.right + 8, anchor: "start" } as const);
    const look = n === chosen ? { fill: isQuery ? "q" : "k", bold: true } as const : {};
    return [{ kind: "label", ...side, y, text: shortened(token), ...look }];
  });
}
