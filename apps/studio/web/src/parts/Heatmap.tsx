// A matrix of more numbers than a table holds, on a canvas: one tab stop, arrow keys go from cell to cell and say it,
// hovering previews a number and a click pins it.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { ground } from "../app/theme";
import { coloured, type Scale } from "../drawing/colour";
import { shown } from "../drawing/numbers";
import { palettes, type Palette } from "../drawing/palette";
import { valueAt, type Tensor } from "../engine/tensor";
import { Legend } from "./Legend";
import { cellAt, heatmapLayout, type HeatmapLayout } from "./heatmap_layout";
import { nameOf, parsedName, pointed, ringOf, rings } from "./links";
import { sharpCanvas } from "./sharp_canvas";
import "./heatmap.css";

export interface HeatmapProps {
  name: string;
  title: string;
  meaning: string;
  says?: string;
  kind?: "q" | "k" | "v" | undefined;
  rows: readonly string[];
  columns: readonly string[];
  columnLabels?: boolean;
  firstRow?: number;
  values: Tensor;
  hidden?: Tensor | null;
  decimals: number;
  scale: Scale;
  /** Pixels that there are for it. */
  room: number;
  /** The height of a row, for vectors as strips; else cells are square. */
  rowTall?: number | undefined;
  onPin: (name: string) => void;
}

export function Heatmap(props: HeatmapProps) {
  const { name, title, rows, columns, values, hidden, decimals, scale, firstRow = 0 } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const said = useSignal("");
  const at = useSignal<{ row: number; column: number } | null>(null);
  const layout = heatmapLayout(values, rows, props.columnLabels ? columns : [], props.room, props.rowTall);
  const now = ground.value;
  const ringed = rings.value;

  useLayoutEffect(() => {
    const context = sharpCanvas(canvas.current, layout.width, layout.height);
    if (context) paintCells(context, layout, props, palettes[now], now);
  }, [values, hidden, now, layout.width, layout.height, scale.least, scale.most]);
  useEffect(() => {
    const context = sharpCanvas(over.current, layout.width, layout.height);
    if (context) paintRings(context, layout, name, firstRow, palettes[now]);
  }, [ringed, now, layout.width, layout.height, firstRow]);

  const point = (cell: { row: number; column: number } | null) => {
    pointed.value = cell ? nameOf(name, firstRow + cell.row, cell.column) : null;
  };
  const under = (event: MouseEvent) => cellAt(layout, event.offsetX, event.offsetY);
  const say = (cell: { row: number; column: number }) => {
    const isHidden = hidden ? valueAt(hidden, cell.row, cell.column) === 1 : false;
    const number = isHidden ? "hidden" : shown(valueAt(values, cell.row, cell.column), decimals);
    said.value = `${rows[cell.row] ?? ""}, ${columns[cell.column] ?? ""}, ${number}`;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const from = at.value ?? { row: 0, column: 0 };
    const steps: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (event.key === "Enter") props.onPin(nameOf(name, firstRow + from.row, from.column));
    else if (step) {
      const next = {
        row: Math.min(Math.max(from.row + step[0], 0), layout.rows - 1),
        column: Math.min(Math.max(from.column + step[1], 0), layout.columns - 1),
      };
      at.value = next;
      point(next);
      say(next);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const count = hidden ? Array.from(hidden.values, Number).filter((one) => one === 1).length : 0;

  return (
    <div class="heatmap">
      <div class={`matrix-title ${props.kind ?? ""}`} title={props.meaning}>
        {title}
        {props.says && <small>{props.says}</small>}
      </div>
      <div
        class="heatmap-cells"
        role="application"
        aria-roledescription="matrix"
        aria-label={`${title}: ${props.meaning}; ${layout.rows} × ${layout.columns}, ${count === 0 ? "none" : count} hidden`}
        tabIndex={0}
        data-own-arrows
        style={{ width: `${layout.width}px`, height: `${layout.height}px` }}
        onPointerMove={(event) => point(under(event))}
        onPointerLeave={() => point(null)}
        onClick={(event) => {
          const cell = under(event);
          if (cell) props.onPin(nameOf(name, firstRow + cell.row, cell.column));
        }}
        onKeyDown={onKeyDown}
        onBlur={() => point(null)}
      >
        <canvas ref={canvas} />
        <canvas ref={over} />
      </div>
      <Legend scale={scale} decimals={Math.min(decimals, 2)} what={title} />
      <span class="said" aria-live="polite">
        {said.value}
      </span>
    </div>
  );
}

function paintCells(context: CanvasRenderingContext2D, layout: HeatmapLayout, props: HeatmapProps, palette: Palette, now: "light" | "dark"): void {
  const { cellWide, cellTall, left, top } = layout;
  const gap = Math.min(cellWide, cellTall) >= 10 ? 1 : 0;
  for (let row = 0; row < layout.rows; ++row) {
    for (let column = 0; column < layout.columns; ++column) {
      const value = valueAt(props.values, row, column);
      const [x, y] = [left + column * cellWide, top + row * cellTall];
      const isHidden = props.hidden ? valueAt(props.hidden, row, column) === 1 : false;
      if (isHidden || Number.isNaN(value)) strike(context, x, y, cellWide - gap, cellTall - gap, !isHidden, palette);
      else {
        context.fillStyle = coloured(props.scale, value, now);
        context.fillRect(x, y, cellWide - gap, cellTall - gap);
      }
    }
  }
  context.fillStyle = palette.soft;
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (let row = 0; row < layout.rows; row += layout.rowStep) {
    context.fillText(props.rows[row] ?? "", left - 6, top + (row + 0.5) * cellTall, left - 6);
  }
  context.textAlign = "center";
  for (let column = 0; layout.columnStep > 0 && column < layout.columns; column += layout.columnStep) {
    context.fillText(props.columns[column] ?? "", left + (column + 0.5) * cellWide, top / 2);
  }
}

// A stroke for what is hidden, a cross for what is no number.
function strike(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, crossed: boolean, palette: Palette): void {
  context.strokeStyle = crossed ? palette.ink : palette.rule;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, y + height);
  context.lineTo(x + width, y);
  if (crossed) {
    context.moveTo(x, y);
    context.lineTo(x + width, y + height);
  }
  context.stroke();
}

function paintRings(context: CanvasRenderingContext2D, layout: HeatmapLayout, name: string, firstRow: number, palette: Palette): void {
  const now = rings.value;
  const here = [now.of, ...now.sources, ...now.uses].filter((one) => one?.startsWith(`${name}:`));
  if (here.length === 0) return;
  const isSingle = here.every((one) => one !== null && parsedName(one) !== null);
  const ring = (row: number, column: number) => {
    const kind = ringOf(now, nameOf(name, firstRow + row, column));
    if (!kind) return;
    context.strokeStyle = kind === "self" ? palette.ink : palette.accent;
    context.lineWidth = 2;
    context.setLineDash(kind === "use" ? [2, 2] : []);
    context.strokeRect(layout.left + column * layout.cellWide, layout.top + row * layout.cellTall, layout.cellWide, layout.cellTall);
  };
  if (isSingle) {
    for (const one of here) {
      const parts = parsedName(one ?? "");
      if (parts) ring(parts.row - firstRow, parts.column);
    }
    return;
  }
  for (let row = 0; row < layout.rows; ++row) for (let column = 0; column < layout.columns; ++column) ring(row, column);
}
