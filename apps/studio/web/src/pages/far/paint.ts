// Paints what is seen of the matrix: tiles, or what stands in for them, hatching below; the axes; the chosen row.

import type { Ground, Palette } from "../../drawing/palette";
import { levelAt, pieceFor, tilesSeen, type Size, type TileAt, type View } from "../../drawing/tiles";
import { grouped } from "../../drawing/amounts";
import { shown as written } from "../../drawing/numbers";
import { colourOf, textColourOn } from "../../drawing/colour";
import { shortWord, tickStep, ticks, wordsFrom } from "./axes";
import { pictureOf, shade, type HeldTile } from "./held";
import { heldOf, type Matrix } from "./plan";
import type { Shown } from "./state";

export interface Gutter {
  left: number;
  top: number;
  /** Characters of a word beside a row, and above a column. */
  beside: number;
  above: number;
  /** Pixels of its letters. */
  text: number;
}

export const wideGutter: Gutter = { left: 104, top: 76, beside: 11, above: 9, text: 12 };
export const narrowGutter: Gutter = { left: 62, top: 54, beside: 7, above: 6, text: 12 };
export const projectorGutter: Gutter = { left: 150, top: 108, beside: 11, above: 9, text: 18 };

export interface Scene {
  view: View;
  /** Of the picture without its gutter. */
  size: Size;
  gutter: Gutter;
  matrix: Matrix;
  shown: Shown;
  ground: Ground;
  palette: Palette;
  held: (tile: TileAt) => HeldTile | undefined;
  /** All of it, coarse. */
  whole: HeldTile;
  query: number | null;
  key: number | null;
  topKeys: readonly number[];
  found: readonly number[];
  pointed: { query: number; key: number } | null;
}

const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/** What was painted: false where something stands in, true where the estimate of the whole was seen. */
export interface Painted {
  exact: boolean;
  level: number;
}

export function paintScene(context: CanvasRenderingContext2D, scene: Scene): Painted {
  const { gutter, size, palette } = scene;
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, gutter.left + size.width, gutter.top + size.height);
  context.save();
  context.beginPath();
  context.rect(gutter.left, gutter.top, size.width, size.height);
  context.clip();
  context.translate(gutter.left, gutter.top);
  const painted = paintTiles(context, scene);
  paintGrid(context, scene);
  paintChosen(context, scene);
  context.restore();
  paintKeyAxis(context, scene);
  paintQueryAxis(context, scene);
  return painted;
}

function paintTiles(context: CanvasRenderingContext2D, scene: Scene): Painted {
  const { view, size, matrix, shown, ground } = scene;
  const level = levelAt(view.scale, matrix.levels);
  const x = (key: number) => Math.round((key - view.key) * view.scale);
  const y = (query: number) => Math.round((query - view.query) * view.scale);
  const [left, top] = [Math.max(x(0), 0), Math.max(y(0), 0)];
  context.fillStyle = hatching(context, scene.palette);
  context.fillRect(left, top, Math.min(x(matrix.keys), size.width) - left, Math.min(y(matrix.queries), size.height) - top);
  context.imageSmoothingEnabled = false;
  const last = matrix.levels - 1;
  let exact = true;
  const held = (tile: TileAt) => heldOf(tile, scene.held) ?? (tile.level === last ? scene.whole : undefined);
  for (const tile of tilesSeen(view, size, matrix, level, { query: 0, key: 0 })) {
    const piece = pieceFor(tile, matrix, matrix.levels, held);
    if (!piece) continue;
    exact &&= piece.from.level === level && piece.held.every === 1;
    const picture = pictureOf(piece.held, shown, ground);
    if (!picture) continue;
    const { area } = piece;
    const [px, py] = [x(area.fromKey), y(area.fromQuery)];
    const clip = clipped(piece, picture);
    if (clip.width > 0 && clip.height > 0) {
      context.drawImage(picture, clip.left, clip.top, clip.width, clip.height, px, py, x(area.toKey) - px, y(area.toQuery) - py);
    }
  }
  return { exact, level };
}

// Nothing outside of the picture may be asked of it.
function clipped(piece: { left: number; top: number; width: number; height: number }, picture: HTMLCanvasElement) {
  return {
    left: piece.left,
    top: piece.top,
    width: Math.min(piece.width, picture.width - piece.left),
    height: Math.min(piece.height, picture.height - piece.top),
  };
}

const patterns = new Map<string, CanvasPattern>();

function hatching(context: CanvasRenderingContext2D, palette: Palette): CanvasPattern | string {
  const known = patterns.get(palette.paper);
  if (known) return known;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const on = tile.getContext("2d");
  if (!on) return palette.paper;
  on.fillStyle = palette.paper;
  on.fillRect(0, 0, 8, 8);
  on.strokeStyle = palette.rule;
  on.beginPath();
  for (const shift of [-8, 0, 8]) {
    on.moveTo(shift, 8);
    on.lineTo(shift + 8, 0);
  }
  on.stroke();
  const pattern = context.createPattern(tile, "repeat");
  if (pattern) patterns.set(palette.paper, pattern);
  return pattern ?? palette.paper;
}

const linesFrom = 14; // pixels of a pair
const numbersFrom = 44;

function paintGrid(context: CanvasRenderingContext2D, scene: Scene): void {
  const { view, size, matrix, palette } = scene;
  if (view.scale < linesFrom) return;
  context.strokeStyle = palette.paper;
  context.lineWidth = 1;
  context.beginPath();
  for (const [from, room, count, isKey] of [[view.key, size.width, matrix.keys, true], [view.query, size.height, matrix.queries, false]] as const) {
    for (let at = Math.max(0, Math.floor(from)); at <= Math.min(count, from + room / view.scale); ++at) {
      const pixel = Math.round((at - from) * view.scale) + 0.5;
      context.moveTo(isKey ? pixel : 0, isKey ? 0 : pixel);
      context.lineTo(isKey ? pixel : size.width, isKey ? size.height : pixel);
    }
  }
  context.stroke();
  if (view.scale >= numbersFrom) paintNumbers(context, scene);
}

const leastWritten = 0.005; // below it the colour says enough

function paintNumbers(context: CanvasRenderingContext2D, scene: Scene): void {
  const { view, size, matrix, ground } = scene;
  context.font = `13px ${fonts}`;
  context.textAlign = "center";
  for (const tile of tilesSeen(view, size, matrix, 0, { query: 0, key: 0 })) {
    const held = scene.held(tile);
    if (!held?.largest) continue;
    for (let r = 0; r < held.rows; ++r) {
      const y = (tile.row * 256 + r + 0.5 - view.query) * view.scale;
      if (y < 0 || y > size.height) continue;
      for (let c = 0; c < held.columns; ++c) {
        const x = (tile.column * 256 + c + 0.5 - view.key) * view.scale;
        const logarithm = held.largest[r * held.columns + c]!;
        if (x < 0 || x > size.width || !(2 ** logarithm >= leastWritten)) continue;
        context.fillStyle = textColourOn(colourOf("sequential", shade(logarithm), ground));
        context.fillText(written(2 ** logarithm, 2), x, y + 5);
      }
    }
  }
}

// The chosen row as a line with a gap where it is read; rings about its keys.
function paintChosen(context: CanvasRenderingContext2D, { view, size, matrix, palette, query, key, topKeys }: Scene): void {
  if (query === null) return;
  const tall = Math.max(view.scale, 1);
  const y = (query - view.query) * view.scale;
  if (y > -tall && y < size.height) {
    context.fillStyle = palette.q;
    const [from, to] = [Math.max((0 - view.key) * view.scale, 0), Math.min((matrix.keys - view.key) * view.scale, size.width)];
    if (view.scale < linesFrom) {
      context.globalAlpha = 0.75;
      context.fillRect(from, Math.round(y + (tall - 1) / 2), to - from, 1);
      context.globalAlpha = 1;
    } else {
      context.fillRect(from, Math.round(y) - 1, to - from, 2);
      context.fillRect(from, Math.round(y + tall) - 1, to - from, 2);
    }
  }
  const ring = (at: number, colour: string, thick: number) => {
    const x = (at + 0.5 - view.key) * view.scale;
    const middle = y + view.scale / 2;
    const radius = Math.max(8, view.scale * 0.5 + 2);
    if (x < -radius || x > size.width + radius || middle < -radius || middle > size.height + radius) return;
    for (const [width, stroke] of [[thick + 3, palette.paper], [thick, colour]] as const) {
      context.beginPath();
      if (view.scale >= linesFrom) context.rect(x - view.scale / 2, y, view.scale, view.scale);
      else context.arc(x, middle, radius, 0, 2 * Math.PI);
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.stroke();
    }
  };
  const [first] = topKeys;
  if (first !== undefined && first !== key) ring(first, palette.k, 2);
  if (key !== null) ring(key, palette.accent, 2.5);
}

function paintKeyAxis(context: CanvasRenderingContext2D, scene: Scene): void {
  const { view, size, gutter, matrix, palette, found, topKeys, key } = scene;
  const bottom = gutter.top;
  context.textBaseline = "alphabetic";
  context.fillStyle = palette.k;
  context.font = `600 ${gutter.text + 1}px ${fonts}`;
  context.textAlign = "left";
  const title = gutter.left < 80 ? "key →" : "keys: what is read →";
  context.fillText(title, gutter.left, gutter.text + 2);
  const titleEnd = gutter.left + context.measureText(title).width + 12;
  const near = view.scale >= wordsFrom;
  context.strokeStyle = palette.soft;
  context.font = `${gutter.text}px ${fonts}`;
  for (const { at, pixel } of ticks(view.key, view.scale, size.width, matrix.keys, tickStep(view.scale, 7.6 * gutter.text))) {
    const x = gutter.left + pixel;
    const wide = context.measureText(grouped(at)).width;
    const y = near ? gutter.text + 2 : bottom - 10;
    if (x + wide / 2 > gutter.left + size.width || (near && x - wide / 2 < titleEnd)) continue;
    context.fillStyle = palette.soft;
    context.textAlign = "center";
    context.fillText(grouped(at), Math.max(x, gutter.left + wide / 2), y);
    if (!near) line(context, x, bottom - 6, x, bottom);
  }
  if (near) {
    const words = wordsOf(scene, "keys");
    for (const { at, pixel } of ticks(view.key, view.scale, size.width, matrix.keys, 1)) {
      const word = words(at);
      if (word === null) continue;
      const x = gutter.left + pixel;
      context.save();
      context.translate(x + 3, bottom - 5);
      context.rotate(-Math.PI / 3);
      context.textAlign = "left";
      const isKnown = at === key || at === scene.pointed?.key;
      context.font = `${isKnown ? "600 " : ""}${gutter.text}px ${fonts}`;
      context.fillStyle = isKnown || topKeys.includes(at) ? palette.k : palette.ink;
      context.fillText(shortWord(word, gutter.above), 0, 0);
      context.restore();
    }
  }
  context.fillStyle = palette.accent;
  for (const at of found) {
    const x = gutter.left + (at + 0.5 - view.key) * view.scale;
    if (x < gutter.left || x > gutter.left + size.width) continue;
    context.beginPath();
    context.moveTo(x, bottom + 7);
    context.lineTo(x - 4, bottom - 1);
    context.lineTo(x + 4, bottom - 1);
    context.fill();
  }
}

function paintQueryAxis(context: CanvasRenderingContext2D, scene: Scene): void {
  const { view, size, gutter, matrix, palette, query } = scene;
  const right = gutter.left;
  const near = view.scale >= wordsFrom;
  context.fillStyle = palette.q;
  context.font = `600 ${gutter.text + 1}px ${fonts}`;
  context.textAlign = "right";
  const title = right < 80 ? "query ↓" : "queries ↓";
  context.fillText(title, right - 4, gutter.top - 8, right - 4);
  context.font = `${gutter.text}px ${fonts}`;
  context.strokeStyle = palette.soft;
  const bold = (at: number) => at === query || at === scene.pointed?.query;
  const words = near ? wordsOf(scene, "queries") : null;
  const showsNumbers = !near || gutter.left >= 100;
  for (const { at, pixel } of ticks(view.query, view.scale, size.height, matrix.queries, tickStep(view.scale, 3.5 * gutter.text))) {
    const y = gutter.top + pixel;
    if (!showsNumbers || y + 6 > gutter.top + size.height) continue;
    context.fillStyle = palette.soft;
    context.textAlign = near ? "left" : "right";
    context.fillText(near ? String(at) : grouped(at), near ? 2 : right - 9, y + 4);
    if (!near) line(context, right - 6, y, right, y);
  }
  if (!words) return;
  context.textAlign = "right";
  for (const { at, pixel } of ticks(view.query, view.scale, size.height, matrix.queries, 1)) {
    const word = words(at);
    if (word === null) continue;
    context.font = `${bold(at) ? "600 " : ""}${gutter.text}px ${fonts}`;
    context.fillStyle = bold(at) ? palette.q : palette.ink;
    context.fillText(shortWord(word, gutter.beside - (gutter.left >= 100 ? 3 : 0)), right - 6, gutter.top + pixel + 4);
  }
}

function line(context: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number): void {
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, Math.round(y) + 0.5);
  context.lineTo(Math.round(toX) + 0.5, Math.round(toY) + 0.5);
  context.stroke();
}

/** The words of the finest tiles that are here. */
export function wordsOf({ view, size, matrix, held }: Scene, what: "queries" | "keys"): (at: number) => string | null {
  const tiles = new Map<number, readonly string[]>();
  for (const tile of tilesSeen(view, size, matrix, 0, { query: 0, key: 0 })) {
    const words = held(tile)?.[what];
    if (words && words.length > 0) tiles.set(what === "keys" ? tile.column : tile.row, words);
  }
  return (at) => tiles.get(Math.floor(at / 256))?.[at % 256] ?? null;
}

