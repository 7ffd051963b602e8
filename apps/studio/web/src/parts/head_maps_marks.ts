// All heads of one attention as small maps on one scale, as marks.

import { colourOf } from "../drawing/colour";
import type { Mark } from "../drawing/marks";
import type { Ground } from "../drawing/palette";
import type { HeadsClass, HeadsSite } from "../engine/messages";
import { mapPlace, type HeadMapsLayout } from "./head_maps_layout";

const pale = 0.15;
const small = 12;

/** The cells of each head's map as colours: red, green, blue and opacity. */
export function mapSheets(site: HeadsSite, ground: Ground): Uint8ClampedArray[] {
  const [layers = 1, heads = 1, rows = 1, columns = 1] = site.maps.shape;
  const table = Array.from({ length: 256 }, (_, n) => parseInt(colourOf("sequential", n / 255, ground).slice(1), 16));
  return Array.from({ length: layers * heads }, (_, head) => {
    const bytes = new Uint8ClampedArray(4 * rows * columns);
    for (let n = 0; n < rows * columns; ++n) {
      const value = Number(site.maps.values[head * rows * columns + n]);
      const colour = table[Math.round(255 * Math.min(Math.max(value, 0), 1))] ?? 0;
      bytes.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], 4 * n);
    }
    return bytes;
  });
}

export interface HeadMapsFigure {
  site: HeadsSite;
  sheets: readonly Uint8ClampedArray[];
  layout: HeadMapsLayout;
  /** Only this layer. */
  layer: number | null;
  /** Heads for which it says no fade. */
  matches: (one: HeadsClass) => boolean;
}

export function headMapsMarks({ site, sheets, layout, layer, matches }: HeadMapsFigure): Mark[] {
  const [, , rows = 1, columns = 1] = site.maps.shape;
  const first = layer === null ? 0 : layer * site.heads;
  const count = layer === null ? site.layers * site.heads : site.heads;
  const marks = numberMarks(layout, site, layer);
  for (let n = 0; n < count; ++n) {
    const { x, y } = mapPlace(layout, n);
    const place = { x, y, width: layout.mapWidth, height: layout.mapHeight };
    const one = site.classes[first + n];
    const opacity = one && matches(one) ? 1 : pale;
    marks.push({ kind: "pixels", ...place, rows, columns, bytes: sheets[first + n]!, opacity });
    marks.push({ kind: "box", ...outside(place, 0.5), stroke: "rule", thick: 1 });
  }
  return marks;
}

/** A frame around the map of the nth head. */
export function frameMark(layout: HeadMapsLayout, n: number, stroke: "soft" | "accent"): Mark {
  const place = { ...mapPlace(layout, n), width: layout.mapWidth, height: layout.mapHeight };
  return { kind: "box", ...outside(place, 2), stroke, thick: 2.5 };
}

function outside({ x, y, width, height }: { x: number; y: number; width: number; height: number }, by: number) {
  return { x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by };
}

function numberMarks(layout: HeadMapsLayout, site: HeadsSite, layer: number | null): Mark[] {
  const label = (text: string, x: number, y: number, anchor: "start" | "middle"): Mark => ({ kind: "label", x, y, text, anchor, size: small, fill: "soft" });
  const heads = Array.from({ length: site.heads }, (_, head) => head);
  if (layout.wrapped) return heads.map((head) => label(String(head), mapPlace(layout, head).x, mapPlace(layout, head).y - 9, "start"));
  const above = heads.map((head) => label(String(head), mapPlace(layout, head).x + layout.mapWidth / 2, 8, "middle"));
  const beside = Array.from({ length: layout.rows }, (_, row) =>
    label(`L${layer ?? row}`, 11, mapPlace(layout, row * layout.columns).y + layout.mapHeight / 2, "middle"),
  );
  return [...above, ...beside];
}
