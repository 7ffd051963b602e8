// A drawing is a list of marks. The screen, an SVG file and a PNG show the same list.

/** A colour by its role, which each ground fills in, or a colour outright. */
export type Paint = "ink" | "soft" | "rule" | "paper" | "ground" | "accent" | "q" | "k" | "v" | `#${string}`;

interface Common {
  opacity?: number;
  /** "weights:1,2": the number that the mark shows. */
  name?: string;
}

export interface Box extends Common {
  kind: "box";
  x: number;
  y: number;
  width: number;
  height: number;
  fill?: Paint;
  stroke?: Paint;
  thick?: number;
  dashed?: boolean;
  radius?: number;
}

export interface Line extends Common {
  kind: "line";
  points: readonly (readonly [number, number])[];
  stroke?: Paint;
  fill?: Paint; // closes the line
  thick?: number;
  dashed?: boolean;
  arrow?: boolean;
  /** From the first point to the last, level at both ends. */
  curved?: boolean;
}

export interface Disc extends Common {
  kind: "disc";
  x: number;
  y: number;
  radius: number;
  fill?: Paint;
  stroke?: Paint;
  thick?: number;
  dashed?: boolean;
}

export interface Label extends Common {
  kind: "label";
  x: number;
  y: number; // of the middle of the line
  text: string;
  size?: number;
  anchor?: "start" | "middle" | "end";
  fill?: Paint;
  bold?: boolean;
  turn?: number; // degrees, clockwise about (x, y)
  halo?: boolean; // an outline in the colour of the paper, for text over lines
}

/** Many small boxes side by side, without seams. */
export interface Pixels extends Common {
  kind: "pixels";
  x: number;
  y: number;
  width: number;
  height: number;
  columns: number;
  rows: number;
  /** Red, green, blue and opacity of each, row by row. */
  bytes: Uint8ClampedArray;
}

export type Mark = Box | Line | Disc | Label | Pixels;

export interface Drawing {
  width: number;
  height: number;
  /** What a reader who does not see it is told. */
  title: string;
  marks: readonly Mark[];
}

export const textSize = 13;

/** Lines at 45° across a box, for what is hidden; a cross, for what is no number. */
export function hatch(x: number, y: number, width: number, height: number, gap = 6): Mark[] {
  const marks: Mark[] = [];
  for (let shift = gap / 2; shift < width + height; shift += gap) {
    const from: [number, number] = shift <= height ? [x, y + shift] : [x + shift - height, y + height];
    const to: [number, number] = shift <= width ? [x + shift, y] : [x + width, y + shift - width];
    marks.push({ kind: "line", points: [from, to], stroke: "soft", thick: 1, opacity: 0.6 });
  }
  return marks;
}

export function cross(x: number, y: number, width: number, height: number): Mark[] {
  const line = (points: [number, number][]): Mark => ({ kind: "line", points, stroke: "ink", thick: 1 });
  return [
    line([
      [x, y],
      [x + width, y + height],
    ]),
    line([
      [x, y + height],
      [x + width, y],
    ]),
  ];
}

/** `marks` moved by (x, y). */
export function moved(marks: readonly Mark[], x: number, y: number): Mark[] {
  return marks.map((mark) =>
    mark.kind === "line"
      ? { ...mark, points: mark.points.map(([px, py]) => [px + x, py + y] as const) }
      : { ...mark, x: mark.x + x, y: mark.y + y },
  );
}

/** The three corners of an arrow's head that ends at `to`, and where its shaft ends. */
export function arrowHead(from: readonly [number, number], to: readonly [number, number], size = 8) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const long = Math.min(size, length * 0.6);
  const ux = length > 0 ? (to[0] - from[0]) / length : 0;
  const uy = length > 0 ? (to[1] - from[1]) / length : 0;
  const back: [number, number] = [to[0] - ux * long, to[1] - uy * long];
  const side = long * 0.45;
  return {
    shaft: back,
    corners: [
      [to[0], to[1]],
      [back[0] - uy * side, back[1] + ux * side],
      [back[0] + uy * side, back[1] - ux * side],
    ] as [number, number][],
  };
}
