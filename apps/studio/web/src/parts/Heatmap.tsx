// A matrix as a picture of any size, on a canvas: one tab stop whose cells speak. Pointing previews a cell, a click locks
// it, a double click does more; a finger taps, taps again, and holds.

import { useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useId, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ground } from "../app/theme";
import { paintMarks } from "../drawing/canvas";
import { blockNote, cellAt, columnLeft, heatmapLayout, rowTop, type HeatmapLayout } from "../drawing/heatmap_layout";
import { cellPixels, columnLabel, heatmapMarks, rowLabel, type HeatmapData, type HeatmapMarks, type Window } from "../drawing/heatmap_marks";
import type { Mark } from "../drawing/marks";
import { shown } from "../drawing/numbers";
import { palettes, type Palette } from "../drawing/palette";
import { nameOf, parsedName, ringOf, rings } from "./links";
import { cellId, OneCell, placeAfter, type Place } from "./one_cell";
import { usePressing } from "./pressing";
import { sharpCanvas } from "./sharp_canvas";
import { useWidth } from "./use_width";
import "./heatmap.css";

export interface HeatmapProps extends HeatmapData {
  /** "8 × 8 weights, 28 hidden" */
  summary: string;
  /** Names of columns are left out where they say nothing. */
  columnLabels?: boolean;
  rowTall?: number | undefined;
  largest?: number;
  /** At most so many pixels across and down; what is larger is scrolled. */
  room?: number;
  tall?: number;
  zoom?: number;
  /** Row and column of what is pointed at are framed: queries and keys. */
  crossed?: boolean;
  /** Where keys begin. */
  start?: Place;
  pointed: Signal<Place | null>;
  locked: ReadonlySignal<Place | null>;
  onLock: (place: Place | null) => void;
  onOpen?: (place: Place) => void;
  /** "query cat, key sat, 0.401" */
  said?: (place: Place) => string;
}

/** How the picture lies in a room so wide; what is taken along is made of the same. */
export function layoutFor(props: Omit<HeatmapProps, "summary" | "pointed" | "locked" | "onLock">, width: number): HeatmapLayout {
  const frame = {
    rows: props.rows,
    columns: props.columnLabels === false ? [] : props.columns,
    columnCount: props.columns.length,
    decimals: props.decimals,
    sumsOfRows: Boolean(props.rowTotals),
    sumsOfColumns: Boolean(props.columnTotals),
    rowTall: props.rowTall,
    largest: props.largest,
  };
  return heatmapLayout(frame, Math.min(width, props.room ?? Infinity), props.tall, props.zoom);
}

interface Pane {
  width: number;
  height: number;
  x: number;
  y: number;
}

export function Heatmap(props: HeatmapProps) {
  const frame = useRef<HTMLDivElement>(null);
  const cells = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const scroll = useSignal({ x: 0, y: 0 });
  const id = useId();

  const width = useWidth(frame);
  const layout = layoutFor(props, width);
  const pane: Pane = { width: Math.min(layout.width, width), height: Math.min(layout.height, props.tall ?? Infinity), ...scroll.value };
  const now = ground.value;
  const palette = palettes[now];
  const { values, hidden, scale, least } = props;
  const shape = JSON.stringify(layout);
  const pixels = useMemo(() => (width > 0 ? cellPixels(props, layout, now) : null), [values, hidden, JSON.stringify(scale), least, shape, now]);
  const window = windowOf(layout, pane);
  const drawn = useMemo(
    () => (width > 0 ? heatmapMarks(props, layout, pixels, window, now) : null),
    [pixels, values, props.rowTotals, props.columnTotals, JSON.stringify([window, scale, least, props.struck, props.framedRow, props.second, props.rows, props.columns, props.decimals]), shape, now],
  );
  useLayoutEffect(() => {
    const context = sharpCanvas(cells.current, pane.width, pane.height);
    if (context && drawn) paintPane(context, drawn, layout, pane, palette);
  }, [drawn, pane.width, pane.height, pane.x, pane.y]);
  const pointed = props.pointed.value;
  const locked = props.locked.value;
  const ringed = rings.value;
  useLayoutEffect(() => {
    const context = sharpCanvas(over.current, pane.width, pane.height);
    if (context) paintOver(context, props, layout, pane, pointed, locked, palette);
  }, [pointed, locked, ringed, shape, now, pane.width, pane.height, pane.x, pane.y]);

  const at = pointed ?? locked ?? props.start ?? { row: 0, column: 0 };
  const toPlace = (event: MouseEvent): Place | null => {
    const box = over.current?.getBoundingClientRect();
    return box ? cellAt(layout, event.clientX - box.left + pane.x, event.clientY - box.top + pane.y) : null;
  };
  const onOpen = props.onOpen ?? (() => undefined);
  const pressing = usePressing(toPlace, { ...props, onOpen });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = placeAfter(event.key, at, layout.rows, layout.columns);
    if (next) {
      props.pointed.value = next;
      scrollTo(frame.current, layout, pane, next);
    } else if (event.key === "Enter" && event.shiftKey) onOpen(at);
    else if (event.key === "Enter" || event.key === " ") props.onLock(at);
    else if (event.key === "Escape") {
      props.pointed.value = null;
      props.onLock(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const note = blockNote(layout);

  return (
    <>
      <div
        ref={frame}
        class="heatmap"
        role="grid"
        tabIndex={0}
        data-own-arrows
        aria-label={props.summary}
        aria-rowcount={layout.rows}
        aria-colcount={layout.columns}
        aria-activedescendant={cellId(id, at)}
        style={props.tall === undefined ? {} : { maxHeight: `${props.tall}px` }}
        onKeyDown={onKeyDown}
        onBlur={() => (props.pointed.value = null)}
        onScroll={(event) => (scroll.value = { x: event.currentTarget.scrollLeft, y: event.currentTarget.scrollTop })}
      >
        <div role="presentation" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
          <div
            class="heatmap-pane"
            role="presentation"
            data-cells={`${layout.left},${layout.top},${layout.wide},${layout.tall}`}
            style={{ width: `${pane.width}px`, height: `${pane.height}px` }}
            {...pressing}
          >
            <canvas ref={cells} aria-hidden="true" />
            <canvas ref={over} aria-hidden="true" />
          </div>
        </div>
        <OneCell id={id} rows={layout.rows} columns={layout.columns} at={at} text={(props.said ?? saidBy(props))(at)} />
      </div>
      {note && <p class="heatmap-note">{note}</p>}
    </>
  );
}

/** "cat, sat, 0.401": a cell as it is spoken where the page has no better words. */
function saidBy({ rows, columns, values, hidden, decimals }: HeatmapData): (place: Place) => string {
  return ({ row, column }) => {
    const n = row * columns.length + column;
    const number = hidden?.[n] === 1 ? "hidden" : shown(values[n] ?? NaN, decimals);
    return `${rows[row] ?? ""}, ${columns[column] ?? ""}, ${number}`;
  };
}

/** The rows and columns that are in view. */
function windowOf(layout: HeatmapLayout, pane: Pane): Window {
  const rowOf = (y: number) => ((y - layout.top) / layout.tall) * layout.rowBlock;
  const columnOf = (x: number) => ((x - layout.left) / layout.wide) * layout.block;
  return {
    top: Math.max(Math.floor(rowOf(layout.top + pane.y)), 0),
    left: Math.max(Math.floor(columnOf(layout.left + pane.x)), 0),
    bottom: Math.min(Math.ceil(rowOf(pane.y + pane.height)), layout.rows),
    right: Math.min(Math.ceil(columnOf(pane.x + pane.width)), layout.columns),
  };
}

// The cell into view, beside the labels.
function scrollTo(frame: HTMLDivElement | null, layout: HeatmapLayout, pane: Pane, { row, column }: Place): void {
  if (!frame) return;
  const into = (from: number, start: number, at: number, length: number, cell: number) =>
    from - start < at ? from - start : from + cell > at + length ? from + cell - length : at;
  frame.scrollLeft = into(columnLeft(layout, column), layout.left, pane.x, pane.width, layout.wide);
  frame.scrollTop = into(rowTop(layout, row), layout.top, pane.y, pane.height, layout.tall);
}

/** Cells move both ways when they are scrolled, names of rows down alone, those of columns across. */
function paintPane(context: CanvasRenderingContext2D, drawn: HeatmapMarks, layout: HeatmapLayout, pane: Pane, palette: Palette): void {
  const paint = (marks: readonly Mark[], left: number, top: number, x: number, y: number) => {
    context.save();
    context.beginPath();
    context.rect(left, top, pane.width, pane.height);
    context.clip();
    context.translate(-x, -y);
    paintMarks(context, marks, palette);
    context.restore();
  };
  const [left, top] = [pane.x > 0 ? layout.left - 2 : 0, pane.y > 0 ? layout.top - 2 : 0];
  paint(drawn.cells, left, top, pane.x, pane.y);
  paint(drawn.rows, 0, top, 0, pane.y);
  paint(drawn.columns, left, 0, pane.x, 0);
}

/** What is pointed at: its row and column, a ring around the cell; rings of what it is made of and goes into. */
function paintOver(context: CanvasRenderingContext2D, props: HeatmapProps, layout: HeatmapLayout, pane: Pane, pointed: Place | null, locked: Place | null, palette: Palette): void {
  context.save();
  context.beginPath();
  context.rect(layout.left - 3, layout.top - 3, pane.width, pane.height);
  context.clip();
  context.translate(-pane.x, -pane.y);
  const marks: Mark[] = [...ringMarks(props, layout)];
  if (locked) marks.push(ring(layout, locked, "accent"));
  if (pointed) {
    if (props.crossed) marks.push(...crossMarks(layout, pointed));
    marks.push(ring(layout, pointed, "ink"));
  }
  paintMarks(context, marks, palette);
  context.restore();
  if (pointed && props.crossed) paintNames(context, props, layout, pane, pointed, palette);
}

function ring(layout: HeatmapLayout, { row, column }: Place, stroke: "ink" | "accent", dashed = false): Mark {
  const [width, height] = [Math.max(layout.wide, 6), Math.max(layout.tall, 6)];
  return { kind: "box", x: columnLeft(layout, column), y: rowTop(layout, row), width, height, stroke, thick: 2.5, dashed };
}

function crossMarks(layout: HeatmapLayout, { row, column }: Place): Mark[] {
  const width = Math.ceil(layout.columns / layout.block) * layout.wide;
  const height = Math.ceil(layout.rows / layout.rowBlock) * layout.tall;
  return [
    { kind: "box", x: layout.left, y: rowTop(layout, row), width, height: Math.max(layout.tall, 3), stroke: "q" },
    { kind: "box", x: columnLeft(layout, column), y: layout.top, width: Math.max(layout.wide, 3), height, stroke: "k" },
  ];
}

function ringMarks({ name, firstRow = 0 }: HeatmapData, layout: HeatmapLayout): Mark[] {
  const now = rings.value;
  const here = name ? [now.of, ...now.sources, ...now.uses].filter((one) => one?.startsWith(`${name}:`)) : [];
  const marks: Mark[] = [];
  const add = (row: number, column: number) => {
    const kind = ringOf(now, nameOf(name ?? "", firstRow + row, column));
    if (kind) marks.push(ring(layout, { row, column }, kind === "self" ? "ink" : "accent", kind === "use"));
  };
  const places = here.map((one) => parsedName(one ?? ""));
  if (places.every((place) => place !== null)) {
    for (const place of places) add(place.row - firstRow, place.column);
    return marks;
  }
  for (let row = 0; row < layout.rows; ++row) for (let column = 0; column < layout.columns; ++column) add(row, column);
  return marks;
}

function paintNames(context: CanvasRenderingContext2D, props: HeatmapProps, layout: HeatmapLayout, pane: Pane, { row, column }: Place, palette: Palette): void {
  const nameless = { ...layout, rowsTicked: false, columnsTicked: false };
  const query = { ...rowLabel(props, nameless, row), bold: true, fill: "q" as const };
  const y = query.y - pane.y;
  const marks: Mark[] = [
    { kind: "box", x: 0, y: y - 8, width: layout.left - 4, height: 16, fill: "paper" },
    { ...query, y },
  ];
  if (layout.columnStep > 0) {
    const key = columnLabel(props, layout.columnsTicked ? { ...nameless, slanted: false } : layout, column);
    marks.push({ ...key, x: key.x - pane.x, bold: true, fill: "k", halo: true });
  }
  paintMarks(context, marks, palette);
}
