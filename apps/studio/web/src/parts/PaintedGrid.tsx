// A drawing on a canvas with a grid of cells in it: one tab stop, arrow keys go from cell to cell, each cell speaks.
// Hovering previews a cell, a click or tap keeps it.

import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { ground } from "../app/theme";
import { paintMarks } from "../drawing/canvas";
import { cellUnder, type Cell, type GridPlace } from "../drawing/grid";
import type { Drawing } from "../drawing/marks";
import { palettes, type Ground } from "../drawing/palette";
import { cellId, OneCell, placeAfter } from "./one_cell";
import { sharpCanvas } from "./sharp_canvas";
import "./painted_grid.css";

export interface PaintedGridProps {
  drawing: Drawing;
  place: GridPlace;
  /** The cell that was chosen; the cursor stands there. */
  chosen: Cell | null;
  say: (cell: Cell) => string;
  /** A row that is looked at. */
  framed?: number | null;
  onChoose: (cell: Cell | null) => void;
  onHover: (cell: Cell | null) => void;
}

export function PaintedGrid({ drawing, place, chosen, framed = null, say, onChoose, onHover }: PaintedGridProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const hovered = useSignal<Cell | null>(null);
  const id = useId();
  const now = ground.value;
  useLayoutEffect(() => paint(canvas.current, drawing, now), [drawing, now]);

  const hover = (cell: Cell | null) => {
    if (cell?.row === hovered.value?.row && cell?.column === hovered.value?.column) return;
    hovered.value = cell;
    onHover(cell);
  };
  const at = chosen ?? { row: 0, column: 0 };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && chosen) onChoose(null);
    else {
      const next = placeAfter(event.key, at, place.rows, place.columns, Math.ceil(place.rows / 8));
      if (!next) return;
      onChoose(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="painted-grid"
      role="grid"
      tabIndex={0}
      aria-label={drawing.title}
      aria-rowcount={place.rows}
      aria-colcount={place.columns}
      aria-activedescendant={cellId(id, at)}
      style={{ width: `${drawing.width}px`, height: `${drawing.height}px` }}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => {
        if (event.pointerType !== "touch") hover(cellUnder(place, ...within(event)));
      }}
      onPointerLeave={() => hover(null)}
      onClick={(event) => onChoose(cellUnder(place, ...within(event)))}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <OneCell id={id} rows={place.rows} columns={place.columns} at={at} text={say(at)} />
      <div class={`grid-cursor ${chosen ? "" : "unchosen"}`} aria-hidden="true" style={boxOf(place, at)} />
      {framed !== null && <div class="grid-row" aria-hidden="true" style={rowBox(place, framed)} />}
      {hovered.value && <div class="grid-cursor hovered" aria-hidden="true" style={boxOf(place, hovered.value)} />}
    </div>
  );
}

function within(event: MouseEvent): [number, number] {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

const least = 10; // pixels: a cursor on a smaller cell stands around it

function boxOf(place: GridPlace, { row, column }: Cell) {
  const [width, height] = [Math.max(place.cellWide, least), Math.max(place.cellTall, least)];
  const x = place.left + (column + 0.5) * place.cellWide - width / 2;
  const y = place.top + (row + 0.5) * place.cellTall - height / 2;
  return { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
}

function rowBox(place: GridPlace, row: number) {
  return {
    left: `${place.left}px`,
    top: `${place.top + row * place.cellTall}px`,
    width: `${place.columns * place.cellWide}px`,
    height: `${place.cellTall}px`,
  };
}

function paint(canvas: HTMLCanvasElement | null, { width, height, marks }: Drawing, now: Ground): void {
  const context = sharpCanvas(canvas, width, height);
  context?.clearRect(0, 0, width, height);
  if (context) paintMarks(context, marks, palettes[now]);
}
