// All heads of one attention as small maps on one canvas and one scale: pointing previews a head, a click chooses it.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ground } from "../app/theme";
import { paintMarks } from "../drawing/canvas";
import { palettes } from "../drawing/palette";
import type { HeadsClass, HeadsSite } from "../engine/messages";
import { cellId, OneCell, placeAfter } from "./one_cell";
import { mapAt, headMapsLayout } from "./head_maps_layout";
import { frameMark, headMapsMarks, mapSheets } from "./head_maps_marks";
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
  const now = ground.value;
  const sheets = useMemo(() => mapSheets(site, now), [site, now]);
  const at = chosen ? Math.min(Math.max(chosen.layer * site.heads + chosen.head - first, 0), count - 1) : 0;
  const inView = chosen && (layer === null || layer === chosen.layer);

  useLayoutEffect(() => {
    const context = sharpCanvas(canvas.current, layout.width, layout.height);
    if (!context || width === 0) return;
    const marks = headMapsMarks({ site, sheets, layout, layer, matches: props.matches });
    if (under.value !== null) marks.push(frameMark(layout, under.value, "soft"));
    if (inView) marks.push(frameMark(layout, at, "accent"));
    paintMarks(context, marks, palettes[now]);
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
