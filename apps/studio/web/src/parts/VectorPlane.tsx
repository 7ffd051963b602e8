// Vectors of two numbers as arrows from the origin; the tip of one that can be edited can be dragged.

import { scaleLinear } from "d3-scale";
import { useRef } from "preact/hooks";
import { coarse } from "../app/theme";
import type { Mark, Paint } from "../drawing/marks";
import { svgElements } from "../drawing/svg";
import { hullOf, type Point } from "./hull";

export interface PlaneVector {
  /** Names of its two numbers: "q:1,0" and "q:1,1". */
  names: readonly [string, string];
  label: string;
  tip: Point;
  paint: Paint;
  strong: boolean;
  /** Called with a new tip, in tenths. */
  drag?: ((tip: Point, settled: boolean) => void) | undefined;
}

export interface PlaneProps {
  title: string;
  vectors: readonly PlaneVector[];
  /** Points whose convex hull is shaded: a weighted mean of them stays inside. */
  hull?: readonly Point[];
  /** Arrows tip to tail, the last one drawn as far as `drawn` (0 to the count of arrows) says. */
  path?: { points: readonly Point[]; drawn: number; labels: readonly string[] } | null;
  width: number;
  height: number;
}

export interface PlaneFrame {
  x: (value: number) => number;
  y: (value: number) => number;
  marks: Mark[];
  invert: (x: number, y: number) => Point;
}

const edge = 22;

/** Equal scales on both axes, with room for every point, the origin, and steps of one. */
export function planeFrame(points: readonly Point[], width: number, height: number): PlaneFrame {
  const xs = points.map(([x]) => x).concat(0, 1);
  const ys = points.map(([, y]) => y).concat(0, 1);
  const [left, right, low, high] = [Math.min(...xs) - 0.25, Math.max(...xs) + 0.35, Math.min(...ys) - 0.25, Math.max(...ys) + 0.35];
  const unit = Math.min((width - 2 * edge) / (right - left), (height - 2 * edge) / (high - low));
  const startX = (width - unit * (right - left)) / 2;
  const startY = (height + unit * (high - low)) / 2;
  const x = scaleLinear([left, right], [startX, startX + unit * (right - left)]);
  const y = scaleLinear([low, high], [startY, startY - unit * (high - low)]);
  const span = { x: [x.invert(4), x.invert(width - 4)] as const, y: [y.invert(height - 4), y.invert(4)] as const };
  const marks: Mark[] = [];
  for (const tick of ticksIn(span.x)) marks.push(gridLine([x(tick), 4], [x(tick), height - 4], tick === 0));
  for (const tick of ticksIn(span.y)) marks.push(gridLine([4, y(tick)], [width - 4, y(tick)], tick === 0));
  marks.push({ kind: "label", x: x(1), y: y(0) + 12, text: "1", anchor: "middle", size: 11, fill: "soft" });
  marks.push({ kind: "label", x: x(0) - 7, y: y(1), text: "1", anchor: "end", size: 11, fill: "soft" });
  return { x, y, marks, invert: (px, py) => [x.invert(px), y.invert(py)] };
}

// Whole numbers, or fewer where the plane is wide.
function ticksIn([from, to]: readonly [number, number]): number[] {
  return scaleLinear().domain([from, to]).ticks(Math.min(Math.max(Math.floor(to - from), 1), 8));
}

function gridLine(from: Point, to: Point, isAxis: boolean): Mark {
  return { kind: "line", points: [from, to], stroke: isAxis ? "soft" : "rule", thick: 1, opacity: isAxis ? 0.8 : 0.6 };
}

/** The whole plane as marks, for the screen and for files. */
export function planeMarks(props: PlaneProps, frame: PlaneFrame): Mark[] {
  const { x, y } = frame;
  const at = ([px, py]: Point): Point => [x(px), y(py)];
  const marks: Mark[] = [...frame.marks];
  if (props.hull && props.hull.length > 1) {
    const corners = hullOf(props.hull).map(at);
    marks.push({ kind: "line", points: [...corners, corners[0]!], fill: "v", stroke: "v", thick: 1, opacity: 0.14 });
  }
  const ordered = [...props.vectors].sort((a, b) => Number(a.strong) - Number(b.strong));
  const labels: Mark[] = [];
  for (const vector of ordered) {
    const tip = at(vector.tip);
    const opacity = vector.strong ? 1 : 0.45;
    marks.push({ kind: "line", points: [at([0, 0]), tip], stroke: vector.paint, thick: vector.strong ? 3 : 2, arrow: true, opacity, name: vector.names[0] });
    labels.push(tipLabel(vector, tip, at([0, 0])));
  }
  if (props.path) marks.push(...pathMarks(props.path, at));
  return [...marks, ...spread(labels)];
}

function tipLabel(vector: PlaneVector, tip: Point, origin: Point): Mark {
  const [dx, dy] = [tip[0] - origin[0], tip[1] - origin[1]];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = Math.hypot(dx, dy) > 0 ? [dx / length, dy / length] : [0.7, -0.7];
  return {
    kind: "label",
    x: tip[0] + ux * 14,
    y: tip[1] + uy * 14,
    text: vector.label,
    anchor: ux > 0.35 ? "start" : ux < -0.35 ? "end" : "middle",
    fill: vector.paint,
    bold: vector.strong,
    halo: true,
    size: 14,
    name: vector.names[1],
  };
}

// Labels of equal tips would lie on each other: the later ones go beside the first.
function spread(labels: readonly Mark[]): Mark[] {
  const placed: Mark[] = [];
  for (const label of labels) {
    if (label.kind !== "label") continue;
    let { y } = label;
    while (placed.some((one) => one.kind === "label" && Math.abs(one.x - label.x) < 22 && Math.abs(one.y - y) < 15)) y -= 16;
    placed.push({ ...label, y });
  }
  return placed;
}

function pathMarks({ points, drawn, labels }: NonNullable<PlaneProps["path"]>, at: (point: Point) => Point): Mark[] {
  const marks: Mark[] = [];
  let from: Point = [0, 0];
  points.forEach((to, n) => {
    const share = Math.min(Math.max(drawn - n, 0), 1);
    if (share > 0 && (to[0] !== from[0] || to[1] !== from[1])) {
      const tip: Point = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
      marks.push({ kind: "line", points: [at(from), at(tip)], stroke: "ink", thick: 2, arrow: true });
      const middle = at([(from[0] + tip[0]) / 2, (from[1] + tip[1]) / 2]);
      const text = labels[n] ?? "";
      if (share === 1) marks.push({ kind: "label", x: middle[0] + 7, y: middle[1] - 9, text, size: 12, fill: "soft", halo: true });
    }
    from = to;
  });
  return marks;
}

export function VectorPlane(props: PlaneProps) {
  const svg = useRef<SVGSVGElement>(null);
  const frozen = useRef<PlaneFrame | null>(null); // the scale stays while a tip is dragged
  const points = [...props.vectors.map((vector) => vector.tip), ...(props.hull ?? []), ...(props.path?.points ?? [])];
  const frame = frozen.current ?? planeFrame(points, props.width, props.height);

  const onPointerDown = (vector: PlaneVector) => (down: PointerEvent) => {
    if (!vector.drag || down.button !== 0) return;
    down.preventDefault();
    frozen.current = frame;
    let last: Point = vector.tip;
    let moved = false;
    const onMove = (event: PointerEvent) => {
      const box = svg.current?.getBoundingClientRect();
      if (!box) return;
      const scale = props.width / box.width;
      const [x, y] = frame.invert((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
      last = [tenths(x), tenths(y)];
      moved = true;
      vector.drag?.(last, false);
    };
    const onUp = () => {
      removeEventListener("pointermove", onMove);
      removeEventListener("pointerup", onUp);
      removeEventListener("pointercancel", onUp);
      frozen.current = null;
      if (moved) vector.drag?.(last, true);
    };
    addEventListener("pointermove", onMove);
    addEventListener("pointerup", onUp);
    addEventListener("pointercancel", onUp);
  };

  return (
    <svg ref={svg} class="plane" viewBox={`0 0 ${props.width} ${props.height}`} role="img" aria-label={props.title}>
      {svgElements(planeMarks(props, frame))}
      {props.vectors
        .filter((vector) => vector.drag)
        .map((vector) => (
          <circle
            key={vector.names[0]}
            class="handle"
            cx={frame.x(vector.tip[0])}
            cy={frame.y(vector.tip[1])}
            r={coarse.value ? 22 : 15}
            data-name={vector.names[0]}
            onPointerDown={onPointerDown(vector)}
          />
        ))}
    </svg>
  );
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10 + 0;
}
