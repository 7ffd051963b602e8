// A matrix of weights as a picture: pointing previews a pair, a click locks it, a double click does more.

import { useComputed, useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ground } from "../app/theme";
import { palettes } from "../drawing/palette";
import { columnLeft, weightLayout, pairAt, rowTop, type WeightLayout } from "./weight_layout";
import { cellImage, paintCells, paintPointed, type WeightData, type Pane } from "./weight_paint";
import { cellId, OneCell, placeAfter, type Place } from "./one_cell";
import { usePressing } from "./pressing";
import { sharpCanvas } from "./sharp_canvas";
import { useWidth } from "./use_width";
import "./weight_map.css";

export interface WeightMapProps extends WeightData {
  /** "8 × 8 weights, 28 hidden" */
  summary: string;
  decimals: number;
  /** At most so many pixels down. */
  tall: number;
  zoom: number;
  pointed: Signal<Place | null>;
  locked: ReadonlySignal<Place | null>;
  onLock: (place: Place | null) => void;
  /** Double click, and a second tap. */
  onOpen: (place: Place) => void;
  /** "query cat, key sat, 0.401" */
  said: (place: Place) => string;
}

export function WeightMap(props: WeightMapProps) {
  const frame = useRef<HTMLDivElement>(null);
  const cells = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  const scroll = useSignal({ x: 0, y: 0 });

  const room = useWidth(frame);
  const layout = weightLayout(props.rows, props.columns, props.decimals, room, props.tall, props.zoom);
  const pane: Pane = {
    width: Math.min(layout.width, room),
    height: Math.min(layout.height, props.tall),
    scrollX: scroll.value.x,
    scrollY: scroll.value.y,
  };
  const look = { palette: palettes[ground.value], ground: ground.value };
  const image = useRef<{ of: unknown[]; canvas: HTMLCanvasElement | null }>({ of: [], canvas: null });

  useLayoutEffect(() => {
    if (room === 0) return;
    const of = [props.values, props.hidden, props.least, props.scale.most, props.scale.map, look.ground, layout.block];
    if (of.some((one, n) => one !== image.current.of[n])) image.current = { of, canvas: cellImage(props, layout, look) };
    const context = sharpCanvas(cells.current, pane.width, pane.height);
    if (context && image.current.canvas) paintCells(context, layout, props, image.current.canvas, pane, look);
  });
  const pointed = props.pointed.value;
  const locked = props.locked.value;
  useLayoutEffect(() => {
    const context = sharpCanvas(marks.current, pane.width, pane.height);
    if (context) paintPointed(context, layout, props, pane, pointed, locked, look.palette);
  });

  const at = useComputed<Place>(() => props.pointed.value ?? props.locked.value ?? { row: 0, column: 0 }).value;
  const toPlace = (event: MouseEvent): Place | null => {
    const box = marks.current?.getBoundingClientRect();
    return box ? pairAt(layout, event.clientX - box.left + pane.scrollX, event.clientY - box.top + pane.scrollY) : null;
  };
  const pressing = usePressing(toPlace, props);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = placeAfter(event.key, at, layout.rows, layout.columns);
    if (next) {
      props.pointed.value = next;
      scrollTo(frame.current, layout, pane, next);
    } else if (event.key === "Enter" && event.shiftKey) props.onOpen(at);
    else if (event.key === "Enter" || event.key === " ") props.onLock(at);
    else if (event.key === "Escape") {
      props.pointed.value = null;
      props.onLock(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      ref={frame}
      class="weight-map"
      role="grid"
      tabIndex={0}
      aria-label={props.summary}
      aria-rowcount={layout.rows}
      aria-colcount={layout.columns}
      aria-activedescendant={cellId("weight-map", at)}
      style={{ maxHeight: `${props.tall}px` }}
      onKeyDown={onKeyDown}
      onBlur={() => (props.pointed.value = null)}
      onScroll={(event) => (scroll.value = { x: event.currentTarget.scrollLeft, y: event.currentTarget.scrollTop })}
    >
      <div role="presentation" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
        <div class="weight-map-pane" role="presentation" style={{ width: `${pane.width}px`, height: `${pane.height}px` }} {...pressing}>
          <canvas ref={cells} aria-hidden="true" />
          <canvas ref={marks} aria-hidden="true" />
        </div>
      </div>
      <OneCell id="weight-map" rows={layout.rows} columns={layout.columns} at={at} text={props.said(at)} />
    </div>
  );
}

// The pair into view, beside the labels.
function scrollTo(frame: HTMLDivElement | null, layout: WeightLayout, pane: Pane, { row, column }: Place): void {
  if (!frame) return;
  const x = columnLeft(layout, column);
  const y = rowTop(layout, row);
  const into = (from: number, start: number, size: number, length: number) =>
    from - start < size ? from - start : from + layout.cell > size + length ? from + layout.cell - length : size;
  frame.scrollLeft = into(x, layout.left, pane.scrollX, pane.width);
  frame.scrollTop = into(y, layout.top, pane.scrollY, pane.height);
}
