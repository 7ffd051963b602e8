// q and k as arrows with the angle between them; in more than two numbers, in the plane that both lie in.

import type { Drawing, Mark } from "../../../drawing/marks";
import { shown } from "../../../drawing/numbers";
import type { DotPicture } from "../../../engine/messages";
import { rowOf } from "../../../engine/tensor";
import type { Point } from "../../../parts/hull";
import { planeFrame, planeMarks } from "../../../parts/VectorPlane";

const wide = 300;
const tall = 250;
const arcRadius = 34;

/** Where the tips are drawn. */
export function tipsOf(picture: DotPicture): [Point, Point] {
  if (picture.q.shape[0] === 2) {
    return [rowOf(picture.q, 0) as unknown as Point, rowOf(picture.k, 0) as unknown as Point];
  }
  const turn = ((picture.degrees ?? 0) * Math.PI) / 180;
  return [
    [picture.q_length, 0],
    [picture.k_length * Math.cos(turn), picture.k_length * Math.sin(turn)],
  ];
}

export function dotDrawing(picture: DotPicture): Drawing {
  const [q, k] = tipsOf(picture);
  const frame = planeFrame([q, k], wide, tall);
  const vector = (label: string, tip: Point, paint: "q" | "k") => ({
    names: [`${paint}:x`, `${paint}:y`] as const,
    label,
    tip,
    paint,
    strong: true,
  });
  const title = `The query of ${picture.query_name} and the key of ${picture.key_name}`;
  const plane = { title, vectors: [vector("k", k, "k"), vector("q", q, "q")], width: wide, height: tall };
  const marks = planeMarks(plane, frame).map(({ name: _, ...mark }) => mark as Mark);
  return { width: wide, height: tall, title, marks: [...marks, ...arcMarks(picture, q, k, frame)] };
}

function arcMarks(picture: DotPicture, q: Point, k: Point, frame: { x: (v: number) => number; y: (v: number) => number }): Mark[] {
  if (picture.degrees === null) return [];
  const [x, y] = [frame.x(0), frame.y(0)];
  const from = Math.atan2(q[1], q[0]);
  let to = Math.atan2(k[1], k[0]);
  while (to - from > Math.PI) to -= 2 * Math.PI;
  while (to - from < -Math.PI) to += 2 * Math.PI;
  const point = (angle: number, radius: number): [number, number] => [x + radius * Math.cos(angle), y - radius * Math.sin(angle)];
  const points = Array.from({ length: 25 }, (_, n) => point(from + ((to - from) * n) / 24, arcRadius));
  const [lx, ly] = point((from + to) / 2, arcRadius + 20);
  return [
    { kind: "line", points, stroke: "ink", thick: 1.5 },
    { kind: "label", x: lx, y: ly, text: `${shown(picture.degrees, 1)}°`, anchor: "middle", size: 13, halo: true },
  ];
}
