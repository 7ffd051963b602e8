// Marks on a 2D canvas: PNG files, and pictures with too many marks for elements.

import { arrowHead, textSize, type Drawing, type Label, type Line, type Mark, type Pixels } from "./marks";
import { paintFrom, type Palette } from "./palette";

const fonts = "system-ui, sans-serif";

export function paintMarks(context: CanvasRenderingContext2D, marks: readonly Mark[], palette: Palette): void {
  for (const mark of marks) {
    context.save();
    context.globalAlpha = mark.opacity ?? 1;
    if (mark.kind === "label") paintLabel(context, mark, palette);
    else if (mark.kind === "pixels") paintPixels(context, mark);
    else paintShape(context, mark, palette);
    context.restore();
  }
}

function paintLabel(context: CanvasRenderingContext2D, mark: Label, palette: Palette): void {
  const colour = paintFrom(palette);
  const size = mark.size ?? textSize;
  context.font = `${mark.bold ? "600 " : ""}${size}px ${fonts}`;
  context.textAlign = mark.anchor === "middle" ? "center" : (mark.anchor ?? "start");
  context.lineJoin = "round";
  if (mark.turn) {
    context.translate(mark.x, mark.y);
    context.rotate((mark.turn * Math.PI) / 180);
    context.translate(-mark.x, -mark.y);
  }
  const y = mark.y + size * 0.36;
  if (mark.halo) {
    context.strokeStyle = colour("paper");
    context.lineWidth = 4;
    context.strokeText(mark.text, mark.x, y);
  }
  context.fillStyle = colour(mark.fill ?? "ink");
  context.fillText(mark.text, mark.x, y);
}

const sheets = new WeakMap<Uint8ClampedArray, HTMLCanvasElement>();

/** One pixel a box; the same bytes have the same canvas. */
export function sheetOf({ bytes, columns, rows }: Pixels): HTMLCanvasElement {
  const known = sheets.get(bytes);
  if (known) return known;
  const sheet = document.createElement("canvas");
  sheet.width = columns;
  sheet.height = rows;
  const context = sheet.getContext("2d");
  const image = context?.createImageData(columns, rows);
  if (image) {
    image.data.set(bytes);
    context?.putImageData(image, 0, 0);
  }
  sheets.set(bytes, sheet);
  return sheet;
}

function paintPixels(context: CanvasRenderingContext2D, mark: Pixels): void {
  context.imageSmoothingEnabled = false;
  context.drawImage(sheetOf(mark), mark.x, mark.y, mark.width, mark.height);
}

function paintShape(context: CanvasRenderingContext2D, mark: Exclude<Mark, Label | Pixels>, palette: Palette): void {
  const colour = paintFrom(palette);
  context.beginPath();
  if (mark.kind === "box") context.roundRect(mark.x, mark.y, mark.width, mark.height, mark.radius ?? 0);
  else if (mark.kind === "disc") context.arc(mark.x, mark.y, mark.radius, 0, 2 * Math.PI);
  else if (mark.curved) curve(context, mark);
  else mark.points.forEach(([x, y], n) => (n === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  if (mark.fill) {
    if (mark.kind === "line") context.closePath();
    context.fillStyle = colour(mark.fill);
    context.fill();
  }
  if (!mark.stroke) return;
  context.strokeStyle = colour(mark.stroke);
  context.lineWidth = mark.thick ?? 1.5;
  context.lineCap = "round";
  if (mark.dashed) context.setLineDash([3, 3]);
  context.stroke();
  const [from, to] = mark.kind === "line" && mark.arrow ? [mark.points.at(-2), mark.points.at(-1)] : [];
  if (from && to) {
    context.beginPath();
    arrowHead(from, to).corners.forEach(([x, y], n) => (n === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.fillStyle = colour(mark.stroke);
    context.fill();
  }
}

function curve(context: CanvasRenderingContext2D, { points }: Line): void {
  const [[fromX, fromY] = [0, 0], [toX, toY] = [0, 0]] = [points.at(0), points.at(-1)];
  const middle = (fromX + toX) / 2;
  context.moveTo(fromX, fromY);
  context.bezierCurveTo(middle, fromY, middle, toY, toX, toY);
}

/** The drawing as a PNG, `scale` pixels to a unit. */
export async function pngFile(drawing: Drawing, palette: Palette, scale = 3): Promise<Blob> {
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(drawing.width * scale);
  canvas.height = Math.ceil(drawing.height * scale);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser gives no canvas to draw the PNG on");
  context.scale(scale, scale);
  context.fillStyle = palette.paper;
  context.fillRect(0, 0, drawing.width, drawing.height);
  paintMarks(context, drawing.marks, palette);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the canvas is too large for a PNG"))), "image/png");
  });
}
