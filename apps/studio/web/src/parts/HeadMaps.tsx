// All heads of one attention as small maps on one canvas and one scale: pointing previews a head, a click chooses it.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ground } from "../app/theme";
import { colourOf } from "../drawing/colour";
import { palettes, type Ground } from "../drawing/palette";
import type { HeadsClass, HeadsSite } from "../engine/messages";
import { cellId, OneCell, placeAfter } from "./one_cell";
import { mapAt, mapPlace, headMapsLayout, type HeadMapsLayout } from "./head_maps_layout";
import { useWidth } from "./use_width";
import { sharpCanvas } from "./sharp_canvas";

export interface HeadMapsProps {
  site: HeadsSite;
  chosen: { layer: number; head: number } | null;
  /** Only this layer. */
  layer: number | null;
  /** Heads for which it says no fade. */
  matches: (one: HeadsClass) => boolean;
  largestMap: number;
  onPreview: (at: { layer: number; head: number } | null) => void;
  onChoose: (at: { layer: number; head: number }) => void;
}

export function HeadMaps(props: HeadMapsProps) {
  const { site, layer, chosen } = props;
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);
  const under = useSignal<number | null>(null);

  const [, , mapRows = 1, mapColumns = 1] = site.maps.shape;
  const first = layer === null ? 0 : layer * site.heads;
  const count = layer === null ? site.layers * site.heads : site.heads;
  const layout = headMapsLayout(layer === null ? site.layers : 1, site.heads, mapRows, mapColumns, width, props.largestMap);
  const sheet = useMemo(() => sheetOf(site, ground.value), [site, ground.value]);
  const at = chosen ? Math.min(Math.max(chosen.layer * site.heads + chosen.head - first, 0), count - 1) : 0;
  const inView = chosen && (layer === null || layer === chosen.layer);

  useLayoutEffect(() => {
    const context = sharpCanvas(canvas.current, layout.width, layout.height);
    if (!context || !sheet || width === 0) return;
    const palette = palettes[ground.value];
    context.clearRect(0, 0, layout.width, layout.height);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = palette.soft;
    paintNumbers(context, layout, site, layer);
    context.imageSmoothingEnabled = mapColumns > layout.mapWidth;
    for (let n = 0; n < count; ++n) {
      const { x, y } = mapPlace(layout, n);
      const one = site.classes[first + n];
      context.globalAlpha = one && props.matches(one) ? 1 : 0.15;
      context.drawImage(sheet, 0, (first + n) * mapRows, mapColumns, mapRows, x, y, layout.mapWidth, layout.mapHeight);
      context.strokeStyle = palette.rule;
      context.lineWidth = 1;
      context.strokeRect(x - 0.5, y - 0.5, layout.mapWidth + 1, layout.mapHeight + 1);
    }
    context.globalAlpha = 1;
    const frameOf = (n: number, colour: string) => {
      const { x, y } = mapPlace(layout, n);
      context.strokeStyle = colour;
      context.lineWidth = 2.5;
      context.strokeRect(x - 2, y - 2, layout.mapWidth + 4, layout.mapHeight + 4);
    };
    if (under.value !== null) frameOf(under.value, palette.soft);
    if (inView) frameOf(at, palette.accent);
  });

  const headAt = (n: number) => ({ layer: Math.floor((first + n) / site.heads), head: (first + n) % site.heads });
  const toMap = (event: MouseEvent): number | null => {
    const box = canvas.current?.getBoundingClientRect();
    return box ? mapAt(layout, count, event.clientX - box.left, event.clientY - box.top) : null;
  };
  const preview = (n: number | null) => {
    if (under.value === n) return;
    under.value = n;
    props.onPreview(n === null ? null : headAt(n));
  };
  const place = { row: Math.floor(at / layout.columns), column: at % layout.columns };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = placeAfter(event.key, place, layout.rows, layout.columns);
    if (!next || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const n = next.row * layout.columns + next.column;
    if (n < count) props.onChoose(headAt(n));
  };
  return (
    <div
      ref={frame}
      class="head-maps"
      role="grid"
      tabIndex={0}
      aria-label={`All heads: ${site.layers} layers of ${site.heads}`}
      aria-rowcount={layout.rows}
      aria-colcount={layout.columns}
      aria-activedescendant={cellId("head-maps", place)}
      onKeyDown={onKeyDown}
    >
      <canvas
        ref={canvas}
        aria-hidden="true"
        onPointerMove={(event) => event.pointerType !== "touch" && preview(toMap(event))}
        onPointerLeave={() => preview(null)}
        onClick={(event) => {
          const n = toMap(event);
          under.value = null;
          if (n !== null) props.onChoose(headAt(n));
        }}
      />
      <OneCell id="head-maps" rows={layout.rows} columns={layout.columns} at={place} text={saidOf(site, first + at)} />
    </div>
  );
}

function saidOf(site: HeadsSite, n: number): string {
  const one = site.classes[n];
  return one ? `layer ${one.layer}, head ${one.head}: ${one.word}, ${one.evidence}` : "";
}

function paintNumbers(context: CanvasRenderingContext2D, layout: HeadMapsLayout, site: HeadsSite, layer: number | null): void {
  if (layout.wrapped) {
    context.textAlign = "left";
    for (let head = 0; head < site.heads; ++head) {
      const { x, y } = mapPlace(layout, head);
      context.fillText(String(head), x, y - 5);
    }
    return;
  }
  context.textAlign = "center";
  for (let head = 0; head < site.heads; ++head) {
    context.fillText(String(head), mapPlace(layout, head).x + layout.mapWidth / 2, 12);
  }
  for (let row = 0; row < layout.rows; ++row) {
    context.fillText(`L${layer ?? row}`, 11, mapPlace(layout, row * layout.columns).y + layout.mapHeight / 2 + 4);
  }
}

/** All maps below one another, a pixel a cell. */
function sheetOf(site: HeadsSite, on: Ground): HTMLCanvasElement | null {
  const [layers = 1, heads = 1, rows = 1, columns = 1] = site.maps.shape;
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = layers * heads * rows;
  const context = canvas.getContext("2d");
  if (!context) return null;
  const image = context.createImageData(canvas.width, canvas.height);
  const table = Array.from({ length: 256 }, (_, n) => parseInt(colourOf("sequential", n / 255, on).slice(1), 16));
  site.maps.values.forEach((value, n) => {
    const colour = table[Math.round(255 * Math.min(Math.max(Number(value), 0), 1))] ?? 0;
    image.data.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], 4 * n);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}
