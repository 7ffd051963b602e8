// Waves as marks: a few numbers of the vector over all positions, and what they are at one.

import type { Drawing, Mark } from "../../drawing/marks";
import { withMinus } from "../../drawing/numbers";
import type { PositionsReply } from "../../engine/messages";
import { sizeOf, valueAt } from "../../engine/tensor";
import { shownPairs, significant } from "./turns";

const mostWaves = 6;
const waveTall = 54;

export function wavesDrawing(reply: PositionsReply, at: number, width: number): Drawing {
  const waves = shownPairs(reply.frequencies, sizeOf(reply.table).rows, mostWaves).map((pair) => 2 * pair); // their sines
  const height = waves.length * waveTall + 26;
  const marks = waves.flatMap((column, n) => wave(reply, column, at, n * waveTall + waveTall / 2 + 4, width));
  const x = along(reply, at, width);
  marks.push({
    kind: "line",
    points: [
      [x, 2],
      [x, height - 20],
    ],
    stroke: "ink",
    thick: 1,
    dashed: true,
  });
  marks.push({
    kind: "label",
    x: Math.min(Math.max(x, 40), width - 110),
    y: height - 8,
    text: `position ${at}`,
    anchor: "middle",
    size: 12,
    bold: true,
  });
  return { width, height, title: `Numbers of the vector of position ${at}, as points on waves`, marks };
}

const [left, right] = [6, 96];

function along(reply: PositionsReply, position: number, width: number): number {
  return left + (position / Math.max(sizeOf(reply.table).rows - 1, 1)) * (width - left - right);
}

function wave(reply: PositionsReply, column: number, at: number, middle: number, width: number): Mark[] {
  const { rows } = sizeOf(reply.table);
  const y = (value: number) => middle - value * (waveTall / 2 - 6);
  const points = Array.from({ length: rows }, (_, t): [number, number] => [
    along(reply, t, width),
    y(valueAt(reply.table, t, column)),
  ]);
  const value = valueAt(reply.table, at, column);
  return [
    {
      kind: "line",
      points: [
        [left, middle],
        [width - right, middle],
      ],
      stroke: "rule",
      thick: 1,
    },
    { kind: "line", points, stroke: "accent", thick: 1.75 },
    { kind: "disc", x: along(reply, at, width), y: y(value), radius: 5, fill: "q" },
    { kind: "label", x: width - right + 10, y: middle - 8, text: withMinus(value.toFixed(3)), bold: true, fill: "q" },
    {
      kind: "label",
      x: width - right + 10,
      y: middle + 9,
      text: `${significant(reply.frequencies[column / 2] ?? 0)} rad`,
      size: 11,
      fill: "soft",
    },
  ];
}
