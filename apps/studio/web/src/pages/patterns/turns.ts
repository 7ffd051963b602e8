// Rotation as marks: a dial for each frequency, an arrow for the query and one for the key.

import type { Drawing, Mark } from "../../drawing/marks";
import { withMinus } from "../../drawing/numbers";
import type { PositionsReply } from "../../engine/messages";
import { sizeOf, valueAt } from "../../engine/tensor";

const mostDials = 8;
const captionTall = 40;

const leastTurn = 0.7; // radians over all positions; slower ones look alike

/** At most `most` of the frequencies: from the fastest to the last one that moves, then the slowest. */
export function shownPairs(frequencies: readonly number[], positions: number, most: number): number[] {
  const moving = frequencies.filter((frequency) => frequency * positions >= leastTurn).length;
  const last = frequencies.length - 1;
  const count = Math.min(moving, most - 1);
  const pairs = Array.from({ length: count }, (_, n) => (count < 2 ? 0 : Math.round((n * (moving - 1)) / (count - 1))));
  return [...new Set([...pairs, last])];
}

export function significant(value: number): string {
  return value >= 0.001 ? Number(value.toPrecision(3)).toString() : value.toFixed(6).replace(/0+$/, "");
}

/** The query at position `at`, the key `before` positions before it. */
export function turnsDrawing(reply: PositionsReply, at: number, before: number, width: number): Drawing {
  const pairs = shownPairs(reply.frequencies, sizeOf(reply.table).rows, mostDials);
  const perRow = width >= 480 ? 4 : width >= 300 ? 3 : 2;
  const wide = width / perRow;
  const radius = Math.min(wide / 2 - 12, 52);
  const tall = 2 * radius + captionTall + 14;
  const rows = Math.ceil(pairs.length / perRow);
  const marks = pairs.flatMap((pair, n) => {
    const centre: [number, number] = [(n % perRow) * wide + wide / 2, Math.floor(n / perRow) * tall + radius + 8];
    return dial(reply, pair, at, before, centre, radius);
  });
  return {
    width,
    height: rows * tall,
    title: `The query at ${at} and the key at ${at - before}, turned at each frequency`,
    marks,
  };
}

type Point = [number, number];

function dial(reply: PositionsReply, pair: number, at: number, before: number, centre: Point, radius: number): Mark[] {
  const speed = reply.frequencies[pair] ?? 0;
  const cosine = valueAt(reply.table, Math.min(before, sizeOf(reply.table).rows - 1), pair);
  const end = (position: number, length: number): Point => {
    const angle = position * speed;
    return [centre[0] + length * Math.cos(angle), centre[1] - length * Math.sin(angle)];
  };
  const y = centre[1] + radius + 14;
  return [
    { kind: "disc", x: centre[0], y: centre[1], radius, fill: "ground", stroke: "rule", thick: 1 },
    ...wedge(centre, speed, at, before, radius),
    { kind: "line", points: [centre, end(at - before, radius - 3)], stroke: "k", thick: 2.5, arrow: true },
    { kind: "line", points: [centre, end(at, radius - 3)], stroke: "q", thick: 3.5, arrow: true },
    {
      kind: "label",
      x: centre[0],
      y,
      text: `cos ${withMinus(cosine.toFixed(3))}`,
      anchor: "middle",
      bold: true,
      size: 13,
    },
    {
      kind: "label",
      x: centre[0],
      y: y + 17,
      text: `${significant(speed)} rad${radius > 45 ? " a token" : ""}`,
      anchor: "middle",
      size: 11,
      fill: "soft",
    },
  ];
}

// The angle between both arrows, shaded; a whole turn or more shades the whole dial.
function wedge(centre: Point, speed: number, at: number, before: number, radius: number): Mark[] {
  const angle = before * speed;
  if (angle === 0) return [];
  if (angle >= 2 * Math.PI)
    return [{ kind: "disc", x: centre[0], y: centre[1], radius: radius * 0.55, fill: "accent", opacity: 0.16 }];
  const steps = Math.max(Math.ceil(angle * 10), 2);
  const arc = Array.from({ length: steps + 1 }, (_, n): Point => {
    const turned = (at - before) * speed + (angle * n) / steps;
    return [centre[0] + radius * 0.55 * Math.cos(turned), centre[1] - radius * 0.55 * Math.sin(turned)];
  });
  return [{ kind: "line", points: [centre, ...arc], fill: "accent", opacity: 0.22 }];
}
