// Positions in words: what a cell says, what is seen, what follows.

import type { Chart } from "../../drawing/line_chart";
import type { Cell } from "../../drawing/grid";
import { shown, withMinus } from "../../drawing/numbers";
import type { Ground } from "../../drawing/palette";
import type { PositionsReply } from "../../engine/messages";
import { valueAt } from "../../engine/tensor";
import type { Kind, Settings } from "./positions_state";

export function pairWords(kind: Kind, reply: PositionsReply, { row, column }: Cell): string {
  const value = valueAt(reply.table, row, column);
  switch (kind) {
    case "sinusoidal":
      return `position ${row}, number ${column}: ${shown(value, 3)}`;
    case "rotary":
      return `position ${row}, pair ${column}: cosine ${shown(value, 3)}`;
    case "alibi":
      return `query ${row}, key ${column}, ${apart(row, column)}: ${shown(value, 3)} added to the score`;
    case "t5":
      return `query ${row}, key ${column}, ${apart(row, column)}: bucket ${shown(value, 0)}`;
  }
}

function apart(row: number, column: number): string {
  if (row === column) return "itself";
  return `${Math.abs(row - column)} ${column < row ? "before" : "after"}`;
}

export function distanceChart(kind: Kind, reply: PositionsReply): Omit<Chart, "width" | "height"> {
  const y = Array.from(reply.by_distance.values, Number);
  const x = y.map((_, distance) => distance);
  return {
    title: `Over the distance: ${reply.distance_name}`,
    lines: [{ name: reply.distance_name, x, y, paint: "accent", steps: kind === "t5" }],
    x: { name: "tokens apart" },
    y: {
      name: reply.distance_name,
      least: Math.min(0, ...y),
      most: Math.max(0, ...y),
      written: (value) => withMinus(String(value)),
    },
  };
}

const seen: Record<Kind, string> = {
  sinusoidal:
    "Each row of the map is the vector of one position: orange is positive, blue negative. Fast waves on the left, slow ones on the right. The points on the waves are its numbers.",
  rotary:
    "Each dial turns one pair of numbers: purple the query’s arrow, brown the key’s. The map shows the cosine of the angle at each position.",
  alibi:
    "The map shows what is added to each score: nothing on the diagonal, and the FAINTER the more is taken away, down to −8. A bar is a head’s slope.",
  t5: "The map shows the bucket of each pair. Keys before the query are on the left of the diagonal; those after it have buckets of their own.",
};

export function findings(settings: Settings, reply: PositionsReply, ground: Ground) {
  return {
    seen: seen[settings.kind].replace("FAINTER", ground === "dark" ? "darker" : "paler"),
    finding: reply.sentence,
    numbers: numbersOf(settings, reply),
  };
}

function numbersOf({ kind, at, before }: Settings, reply: PositionsReply) {
  const here = shown(Number(reply.by_distance.values[before] ?? NaN), kind === "t5" ? 0 : 3);
  return (
    <>
      {reply.formula}
      <br />
      query {at}, key {at - before}: {reply.distance_name} = {here}
    </>
  );
}
