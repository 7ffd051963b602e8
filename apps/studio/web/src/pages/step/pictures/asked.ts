// Who looks at whom: words that ask on the left, words that are asked on the right, a line as thick as its weight.

import type { Drawing, Mark } from "../../../drawing/marks";
import type { AskedPicture } from "../../../engine/messages";
import { shown } from "../../../drawing/numbers";
import { valueAt } from "../../../engine/tensor";

const wide = 330;
const rowTall = 40;
const [left, right] = [92, 208];

export function askedDrawing(picture: AskedPicture, row: number | null): Drawing {
  const count = Math.max(picture.queries.length, picture.keys.length);
  const height = count * rowTall + 34;
  const place = (n: number, of: number) => 30 + ((n + 0.5) * count * rowTall) / of;
  const marks: Mark[] = [
    { kind: "label", x: left, y: 10, text: "queries", anchor: "end", size: 12, fill: "q" },
    { kind: "label", x: right, y: 10, text: "keys and values", size: 12, fill: "k" },
  ];
  picture.queries.forEach((word, i) => {
    const y = place(i, picture.queries.length);
    picture.keys.forEach((_, j) => {
      const weight = valueAt(picture.weights, i, j);
      const strong = row === null || row === i;
      marks.push({ kind: "line", points: [[left + 8, y], [right - 8, place(j, picture.keys.length)]], stroke: "q", thick: 0.5 + 7 * weight, opacity: (strong ? 0.2 + 0.7 * weight : 0.06) });
    });
    marks.push({ kind: "label", x: left, y, text: word, anchor: "end", size: 15, fill: "q", bold: row === i });
  });
  picture.keys.forEach((word, j) => {
    const y = place(j, picture.keys.length);
    const weight = row === null ? null : shown(valueAt(picture.weights, row, j), 3);
    marks.push({ kind: "label", x: right, y, text: weight === null ? word : `${word} ${weight}`, size: 15, fill: "k" });
  });
  return { width: wide, height, title: `${picture.queries.join(" ")} asks ${picture.keys.join(" ")}`, marks };
}
