// A drawing on a canvas with a grid of cells in it: one tab stop, arrow keys go from cell to cell, each cell speaks.
// Hovering previews a cell, a click or tap keeps it.

import { useSignal } from "@preact/signals";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { ground } from "../app/theme";
import { paintMarks } from "../drawing/canvas";
import { cellUnder, cellAfter, type Cell, type GridPlace } from "../drawing/grid";
import type { Drawing } from "../drawing/marks";
import { palettes } from "../drawing/palette";
import "./painted_grid.css";

export interface PaintedGridProps {
  drawing: Drawing;
  place: GridPlace;
  /** The cell that was chosen; the cursor stands there. */
  chosen: Cell | null;
  say: (cell: Cell) => string;
  onChoose: (cell: Cell | null) => void;
  onHover: (cell: Cell | null) => void;
}

export function PaintedGrid({ drawing, place, chosen, say, onChoose, onHover }: PaintedGridProps) {
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
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && chosen) onChoose(null);
    else {
      const next = cellAfter(event.key, chosen, place);
      if (!next) return;
      onChoose(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const at = chosen ?? { row: 0, column: 0 };
  return (
    <div
      class="painted-grid"
      role="grid"
      tabIndex={0}
      aria-label={drawing.title}
      aria-rowcount={place.rows}
      aria-colcount={place.columns}
      aria-activedescendant={`${id}-${at.row}-${at.column}`}
      style={{ width: `${drawing.width}px`, height: `${drawing.height}px` }}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => {
        if (event.pointerType !== "touch") hover(cellUnder(place, ...within(event)));
      }}
      onPointerLeave={() => hover(null)}
      onClick={(event) => onChoose(cellUnder(place, ...within(event)))}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <div role="row" aria-rowindex={at.row + 1}>
        <div
          role="gridcell"
          id={`${id}-${at.row}-${at.column}`}
          aria-colindex={at.column + 1}
          aria-selected={chosen !== null}
          aria-label={say(at)}
          class={`grid-cursor ${chosen ? "" : "unchosen"}`}
          style={boxOf(place, at)}
        />
      </div>
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

function paint(canvas: HTMLCanvasElement | null, drawing: Drawing, now: "light" | "dark"): void {
  const context = canvas?.getContext("2d");
  if (!canvas || !context) return;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(drawing.width * ratio);
  canvas.height = Math.round(drawing.height * ratio);
  context.scale(ratio, ratio);
  paintMarks(context, drawing.marks, palettes[now]);
}
