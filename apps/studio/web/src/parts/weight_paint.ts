// Paints a matrix on a canvas: cells once, and what is pointed at on a second canvas above them.

import { colourOf, textColourOn, type Scale } from "../drawing/colour";
import { shown } from "../drawing/numbers";
import type { Ground, Palette } from "../drawing/palette";
import { blockMaxima, columnLeft, marginHeight, rowTop, shortened, type WeightLayout } from "./weight_layout";

export interface WeightData {
  rows: readonly string[];
  columns: readonly string[];
  values: ArrayLike<number>;
  hidden: ArrayLike<number> | null;
  rowTotals: ArrayLike<number> | null;
  columnTotals: ArrayLike<number> | null;
  scale: Scale;
  /** Weights below it fade. */
  least: number;
}

export interface Look {
  palette: Palette;
  ground: Ground;
}

const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const labelFont = `13px ${fonts}`;
const faded = 0.18;

/** The colours of 256 steps as bytes. */
function tableOf(scale: Scale, ground: Ground): Uint8ClampedArray {
  const bytes = new Uint8ClampedArray(256 * 4);
  for (let n = 0; n < 256; ++n) {
    const colour = parseInt(colourOf(scale.map, n / 255, ground).slice(1), 16);
    bytes.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], 4 * n);
  }
  return bytes;
}

/** One pixel a cell. */
export function cellImage(data: WeightData, layout: WeightLayout, { ground }: Look): HTMLCanvasElement | null {
  const { down, across, largest, hidden } = blockMaxima(data.values, data.hidden, layout, layout.block);
  const canvas = document.createElement("canvas");
  canvas.width = across;
  canvas.height = down;
  const context = canvas.getContext("2d");
  if (!context) return null;
  const image = context.createImageData(across, down);
  const table = tableOf(data.scale, ground);
  const { least, most } = data.scale;
  for (let n = 0; n < largest.length; ++n) {
    if (hidden[n] === 1) continue; // the hatch shows through
    const share = most > least ? (largest[n]! - least) / (most - least) : 0;
    const step = Math.round(255 * Math.min(Math.max(share, 0), 1));
    image.data.set(table.subarray(4 * step, 4 * step + 4), 4 * n);
    if (data.least > 0 && largest[n]! < data.least) image.data[4 * n + 3] = 255 * faded;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

export interface Pane {
  width: number;
  height: number;
  scrollX: number;
  scrollY: number;
}

export function paintCells(context: CanvasRenderingContext2D, layout: WeightLayout, data: WeightData, image: HTMLCanvasElement, pane: Pane, look: Look): void {
  const { palette } = look;
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, pane.width, pane.height);
  context.save();
  context.beginPath();
  context.rect(layout.left, layout.top, pane.width, pane.height);
  context.clip();
  context.translate(-pane.scrollX, -pane.scrollY);
  const [wide, tall] = [image.width * layout.cell, image.height * layout.cell];
  if (data.hidden) paintHatch(context, layout.left, layout.top, wide, tall, palette);
  context.imageSmoothingEnabled = false;
  context.drawImage(image, layout.left, layout.top, wide, tall);
  if (layout.cell >= 14) paintGaps(context, layout, palette);
  if (layout.decimals !== null) paintNumbers(context, layout, data, look);
  context.restore();
  paintLabels(context, layout, data, pane, palette);
  paintSums(context, layout, data, pane, palette);
}

function paintHatch(context: CanvasRenderingContext2D, x: number, y: number, wide: number, tall: number, palette: Palette): void {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const on = tile.getContext("2d");
  if (!on) return;
  on.fillStyle = palette.paper;
  on.fillRect(0, 0, 8, 8);
  on.strokeStyle = palette.rule;
  for (const shift of [-8, 0, 8]) {
    on.moveTo(shift, 8);
    on.lineTo(shift + 8, 0);
  }
  on.stroke();
  context.fillStyle = context.createPattern(tile, "repeat") ?? palette.rule;
  context.fillRect(x, y, wide, tall);
}

function paintGaps(context: CanvasRenderingContext2D, layout: WeightLayout, palette: Palette): void {
  context.strokeStyle = palette.paper;
  context.lineWidth = 1;
  context.beginPath();
  const right = columnLeft(layout, layout.columns);
  const bottom = rowTop(layout, layout.rows);
  for (let row = 0; row <= layout.rows; ++row) {
    context.moveTo(layout.left, Math.round(rowTop(layout, row)) + 0.5);
    context.lineTo(right, Math.round(rowTop(layout, row)) + 0.5);
  }
  for (let column = 0; column <= layout.columns; ++column) {
    context.moveTo(Math.round(columnLeft(layout, column)) + 0.5, layout.top);
    context.lineTo(Math.round(columnLeft(layout, column)) + 0.5, bottom);
  }
  context.stroke();
}

function paintNumbers(context: CanvasRenderingContext2D, layout: WeightLayout, data: WeightData, { ground, palette }: Look): void {
  context.font = `${layout.cell >= 44 ? 13 : 10.5}px ${fonts}`;
  context.textAlign = "center";
  const { least, most } = data.scale;
  for (let row = 0; row < layout.rows; ++row) {
    for (let column = 0; column < layout.columns; ++column) {
      const n = row * layout.columns + column;
      if (data.hidden?.[n] === 1) continue;
      const value = data.values[n]!;
      const isFaded = data.least > 0 && value < data.least;
      const colour = colourOf(data.scale.map, (value - least) / (most - least), ground);
      context.fillStyle = isFaded ? palette.soft : textColourOn(colour);
      const text = shown(value, layout.decimals ?? 2);
      context.fillText(text, columnLeft(layout, column) + layout.cell / 2, rowTop(layout, row) + layout.cell / 2 + 4.5);
    }
  }
}

function paintLabels(context: CanvasRenderingContext2D, layout: WeightLayout, data: WeightData, pane: Pane, palette: Palette): void {
  context.font = labelFont;
  context.fillStyle = palette.ink;
  data.rows.forEach((label, row) => {
    if (row % layout.rowStep === 0) paintRowLabel(context, layout, label, row, pane);
  });
  data.columns.forEach((label, column) => {
    if (column % layout.columnStep === 0) paintColumnLabel(context, layout, label, column, pane);
  });
}

function paintRowLabel(context: CanvasRenderingContext2D, layout: WeightLayout, label: string, row: number, pane: Pane): void {
  const y = rowTop(layout, row + 0.5) - pane.scrollY;
  if (y < layout.top || y > pane.height) return;
  context.textAlign = "right";
  context.fillText(shortened(label), layout.left - 8, y + 4.5);
}

function paintColumnLabel(context: CanvasRenderingContext2D, layout: WeightLayout, label: string, column: number, pane: Pane): void {
  const x = columnLeft(layout, column + 0.5) - pane.scrollX;
  if (x < layout.left || x > pane.width) return;
  if (!layout.slanted) {
    context.textAlign = "center";
    context.fillText(shortened(label), x, layout.top - 8);
    return;
  }
  context.save();
  context.translate(x + 3, layout.top - 7);
  context.rotate(-Math.PI / 4);
  context.textAlign = "left";
  context.fillText(shortened(label), 0, 0);
  context.restore();
}

// On the right each query's sum; below, bars of what each key gets from all queries.
function paintSums(context: CanvasRenderingContext2D, layout: WeightLayout, data: WeightData, pane: Pane, palette: Palette): void {
  context.font = `12px ${fonts}`;
  context.fillStyle = palette.soft;
  const right = columnLeft(layout, layout.columns) - pane.scrollX;
  const bottom = rowTop(layout, layout.rows) - pane.scrollY;
  if (data.rowTotals && layout.cell >= 14) {
    context.textAlign = "left";
    for (let row = 0; row < layout.rows; ++row) {
      const y = rowTop(layout, row + 0.5) - pane.scrollY;
      if (y > layout.top) context.fillText(`Σ ${shown(data.rowTotals[row]!, 3)}`, right + 8, y + 4);
    }
  }
  if (data.columnTotals) paintKeyBars(context, layout, data.columnTotals, bottom, pane, palette);
}

function paintKeyBars(context: CanvasRenderingContext2D, layout: WeightLayout, totals: ArrayLike<number>, bottom: number, pane: Pane, palette: Palette): void {
  const most = Math.max(...Array.from(totals), 1e-9);
  const tall = marginHeight - 22;
  const wide = layout.cell / layout.block;
  context.save();
  context.beginPath();
  context.rect(layout.left, layout.top, pane.width, pane.height);
  context.clip();
  for (let column = 0; column < layout.columns; ++column) {
    const x = columnLeft(layout, column) - pane.scrollX;
    const bar = (totals[column]! / most) * tall;
    context.fillStyle = palette.k;
    context.globalAlpha = 0.55;
    context.fillRect(x + wide * 0.12, bottom + 4, Math.max(wide * 0.76, 0.6), bar);
    context.globalAlpha = 1;
    if (layout.cell < 28) continue;
    context.fillStyle = palette.soft;
    context.textAlign = "center";
    context.fillText(shown(totals[column]!, 2), x + wide / 2, bottom + 4 + bar + 13);
  }
  context.restore();
}

/** What is pointed at: its row and column, and a ring around the pair. */
export function paintPointed(context: CanvasRenderingContext2D, layout: WeightLayout, data: WeightData, pane: Pane, cell: { row: number; column: number } | null, locked: { row: number; column: number } | null, palette: Palette): void {
  context.clearRect(0, 0, pane.width, pane.height);
  if (locked) ring(context, layout, pane, locked, palette.accent, 2.5);
  if (!cell) return;
  const y = rowTop(layout, cell.row) - pane.scrollY;
  const x = columnLeft(layout, cell.column) - pane.scrollX;
  const size = Math.max(layout.cell, 3);
  context.save();
  context.beginPath();
  context.rect(layout.left, layout.top, pane.width, pane.height);
  context.clip();
  context.strokeStyle = palette.q;
  context.lineWidth = 1.5;
  context.strokeRect(layout.left - pane.scrollX, y + 0.5, columnLeft(layout, layout.columns) - layout.left, size);
  context.strokeStyle = palette.k;
  context.strokeRect(x + 0.5, layout.top - pane.scrollY, size, rowTop(layout, layout.rows) - layout.top);
  context.restore();
  ring(context, layout, pane, cell, palette.ink, 2.5);
  boldLabel(context, layout, data, pane, cell, palette);
}

function ring(context: CanvasRenderingContext2D, layout: WeightLayout, pane: Pane, { row, column }: { row: number; column: number }, colour: string, thick: number): void {
  const x = columnLeft(layout, column) - pane.scrollX;
  const y = rowTop(layout, row) - pane.scrollY;
  if (x < layout.left - 1 || y < layout.top - 1) return;
  const size = Math.max(layout.cell, 6);
  context.strokeStyle = colour;
  context.lineWidth = thick;
  context.strokeRect(x + 0.5, y + 0.5, size, size);
}

function boldLabel(context: CanvasRenderingContext2D, layout: WeightLayout, data: WeightData, pane: Pane, { row, column }: { row: number; column: number }, palette: Palette): void {
  context.font = `600 ${labelFont}`;
  const rowLabel = data.rows[row] ?? "";
  const columnLabel = data.columns[column] ?? "";
  const y = rowTop(layout, row + 0.5) - pane.scrollY;
  context.fillStyle = palette.paper;
  context.fillRect(0, y - 8, layout.left - 4, 16);
  context.fillStyle = palette.q;
  paintRowLabel(context, layout, rowLabel, row, pane);
  context.strokeStyle = palette.paper;
  context.lineWidth = 5;
  context.lineJoin = "round";
  context.fillStyle = palette.k;
  paintColumnLabel(context, layout, columnLabel, column, pane);
}
