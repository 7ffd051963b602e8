// Values as masses on a plane, their hull, and the mixture that balances them.

import type { Drawing, Mark } from "../../../drawing/marks";
import type { MixPicture } from "../../../engine/messages";
import { rowOf, valueAt, type Tensor } from "../../../engine/tensor";
import type { Point } from "../../../parts/hull";
import { planeFrame, planeMarks } from "../../../parts/VectorPlane";
import { subscripted } from "../planes";

const wide = 320;
const tall = 270;

export function mixDrawing(picture: MixPicture, v: Tensor): Drawing {
  const points = Array.from({ length: picture.shares.values.length }, (_, key) => rowOf(v, key) as unknown as Point);
  const y = rowOf(picture.mixture, 0) as unknown as Point;
  const title = "The values, their hull, and the mixture inside of it";
  const frame = planeFrame([...points, y], wide, tall);
  const plane = { title, vectors: [], hull: points, width: wide, height: tall };
  const marks: Mark[] = [...planeMarks(plane, frame)];
  const at = ([px, py]: Point): [number, number] => [frame.x(px), frame.y(py)];
  const [mx, my] = at(y);
  points.forEach((point, key) => {
    const share = valueAt(picture.shares, 0, key);
    const [x, top] = at(point);
    marks.push({ kind: "line", points: [[x, top], [mx, my]], stroke: "v", thick: 1 + 6 * share, opacity: 0.25 + 0.5 * share });
  });
  points.forEach((point, key) => {
    const [x, top] = at(point);
    marks.push({ kind: "disc", x, y: top, radius: 3 + 15 * Math.sqrt(valueAt(picture.shares, 0, key)), fill: "v", opacity: 0.85 });
    marks.push({ kind: "label", x: x + 16, y: top - 15, text: subscripted("v", key), size: 14, bold: true, fill: "v", halo: true });
  });
  marks.push({ kind: "disc", x: mx, y: my, radius: 7, fill: "accent", stroke: "paper", thick: 2 });
  marks.push({ kind: "label", x: mx + 12, y: my + 15, text: "y", size: 15, bold: true, fill: "accent", halo: true });
  return { width: wide, height: tall, title, marks };
}
