// What a picture of an explanation is drawn from, as marks.

import { lineChart } from "../../drawing/line_chart";
import { moved, type Drawing, type Mark, type Paint } from "../../drawing/marks";
import type { ExplainedDiagram, ExplainedPicture } from "../../engine/messages";
import type { Tensor } from "../../engine/tensor";

const paints: readonly Paint[] = ["accent", "k", "v", "q", "soft", "ink"];
const mostTicks = 12;
const chartHeight = 300;

/** Lines over an axis, with a label at each of their points if these are few. */
export function chartDrawing({ title, x_axis, y_axis, logarithmic, series }: ExplainedPicture, width: number): Drawing {
  const places = series[0]?.x ?? [];
  const ticks = logarithmic && places.length <= mostTicks ? { ticks: places, written: String } : {};
  return lineChart({
    title,
    width,
    height: chartHeight,
    x: { name: x_axis, logarithmic, ...ticks },
    y: { name: y_axis, logarithmic },
    lines: series.map((line, n) => ({ ...line, paint: paints[n % paints.length]!, dotted: true })),
  });
}

const perPoint = 4 / 3; // pixels
const edge = 6;
const textSize = 12;
const faint = 0.12;
const strong = 0.35;
const inks: Record<string, Paint> = { plain: "ink", soft: "soft", query: "q", key: "k", value: "v", accent: "accent" };
const anchors = { left: "start", middle: "middle", right: "end" } as const;

export function diagramDrawing(title: string, diagram: ExplainedDiagram): Drawing {
  const paint = (ink: string) => inks[ink] ?? "ink";
  const px = (points: number) => points * perPoint;
  const marks: Mark[] = [];
  for (const { kind, ink, x, y } of diagram.strokes) {
    const points = x.map((at, n) => [px(at), px(y[n] ?? 0)] as const);
    if (kind === "area") marks.push({ kind: "line", points, fill: paint(ink), opacity: faint });
    marks.push({
      kind: "line",
      points: kind === "area" ? [...points, ...points.slice(0, 1)] : points,
      stroke: paint(ink),
      thick: kind === "arrow" ? 2 : 1.3,
      dashed: kind === "dashes",
      arrow: kind === "arrow",
    });
  }
  for (const { x, y, width, height, text, ink, fill } of diagram.boxes) {
    const place = { x: px(x), y: px(y), width: px(width), height: px(height) };
    if (fill !== "none") marks.push({ kind: "box", ...place, fill: paint(ink), opacity: fill === "faint" ? faint : strong });
    marks.push({ kind: "box", ...place, stroke: fill === "none" ? "rule" : paint(ink), thick: 1 });
    marks.push({ kind: "label", x: px(x + width / 2), y: px(y + height / 2), text, size: textSize, anchor: "middle" });
  }
  for (const { x, y, text, ink, align } of diagram.captions) {
    const anchor = anchors[align as keyof typeof anchors];
    // A label stands by its middle, a caption on its baseline.
    marks.push({ kind: "label", x: px(x), y: px(y) - 0.36 * textSize, text, size: textSize, anchor, fill: paint(ink) });
  }
  return { title, width: px(diagram.width) + 2 * edge, height: px(diagram.height) + 2 * edge, marks: moved(marks, edge, edge) };
}

const imageSide = 176; // pixels, the longer one
const thickest = 0.85;
const veil = [0x15, 0x17, 0x1d];

/** An image in its own colours; what has little weight lies under a dark veil, and patches that are marked have a frame. */
export function imageDrawing({ text, weights, marked }: ExplainedPicture, image: Tensor, bytes: Uint8ClampedArray): Drawing {
  const [rows = 1, columns = 1] = image.shape;
  const scale = imageSide / Math.max(rows, columns);
  const [width, height] = [columns * scale, rows * scale];
  const marks: Mark[] = [{ kind: "pixels", x: 0, y: 0, width, height, columns, rows, bytes }];
  if (weights) {
    const [down = 1, across = 1] = weights.shape;
    marks.push({ kind: "pixels", x: 0, y: 0, width, height, columns: across, rows: down, bytes: veilBytes(weights) });
  }
  if (marked) marks.push(...frames(marked, width, height));
  return { title: text, width, height, marks };
}

/** Red, green, blue and opacity of each patch: clear over the one with the largest weight. */
export function veilBytes({ values }: Tensor): Uint8ClampedArray {
  const weights = Array.from(values, Number);
  const most = Math.max(...weights);
  return Uint8ClampedArray.from(weights.flatMap((weight) => [...veil, 255 * thickest * (most > 0 ? 1 - weight / most : 1)]));
}

function frames(marked: Tensor, width: number, height: number): Mark[] {
  const [down = 1, across = 1] = marked.shape;
  const [wide, tall] = [width / across, height / down];
  return Array.from(marked.values, Number).flatMap((is, n): Mark[] =>
    is ? [{ kind: "box", x: (n % across) * wide, y: Math.floor(n / across) * tall, width: wide, height: tall, stroke: "#ffd43b", thick: 2 }] : [],
  );
}
