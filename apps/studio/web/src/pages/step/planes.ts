// The bench's vectors on a plane: q among the keys while scores are made, values and their mixture in the sum.

import type { BenchReply } from "../../engine/messages";
import { rowOf } from "../../engine/tensor";
import type { Paint } from "../../drawing/marks";
import type { Point } from "../../parts/hull";
import { nameOf } from "../../parts/links";
import type { PlaneProps, PlaneVector } from "../../parts/VectorPlane";
import type { Bench } from "./bench";
import { phase } from "./board";
import { matrixOf, weightTotal } from "./matrices";

const subscripts = "₀₁₂₃₄₅₆₇₈₉";

export function subscripted(letter: string, row: number): string {
  return letter + [...String(row + 1)].map((digit) => subscripts[Number(digit)]).join("");
}

function pointsOf(reply: BenchReply, name: string): Point[] {
  const matrix = matrixOf(reply, name);
  return matrix ? matrix.rows.map((_, row) => rowOf(matrix.values, row).slice(0, 2) as unknown as Point) : [];
}

interface Drawn {
  letter: string;
  paint: Paint;
  strong: (row: number) => boolean;
  only?: (row: number) => boolean;
}

function vectorsOf(bench: Bench, reply: BenchReply, name: string, drawn: Drawn): PlaneVector[] {
  const matrix = matrixOf(reply, name);
  if (!matrix) return [];
  const drag = (row: number) => (tip: Point, settled: boolean) => bench.editRow(name, row, tip, settled);
  return pointsOf(reply, name)
    .map((tip, row) => ({
      names: [nameOf(name, row, 0), nameOf(name, row, 1)] as const,
      label: subscripted(drawn.letter, row),
      tip,
      paint: drawn.paint,
      strong: drawn.strong(row),
      drag: bench.isLive && matrix.role === "input" ? drag(row) : undefined,
    }))
    .filter((_, row) => drawn.only?.(row) ?? true);
}

/** False where the vectors have another width than a plane, or are too many to tell apart. */
export function fitsPlane(reply: BenchReply): boolean {
  return reply.d_k === 2 && reply.d_v === 2 && reply.keys.length <= 12;
}

export const planeWidth = 320;
export const planeHeight = 270;

export function keyPlane(bench: Bench, reply: BenchReply): PlaneProps {
  const isQuery = (row: number) => row === reply.query;
  return {
    title: `The query of ${reply.queries[reply.query] ?? ""} among the keys`,
    vectors: [
      ...vectorsOf(bench, reply, "k", { letter: "k", paint: "k", strong: () => true }),
      ...vectorsOf(bench, reply, "q", { letter: "q", paint: "q", strong: isQuery, only: isQuery }),
    ],
    width: planeWidth,
    height: planeHeight,
  };
}

export function valuePlane(bench: Bench, reply: BenchReply, position: number): PlaneProps {
  const drawn = phase(position, reply.steps.length - 1, reply.steps.length);
  const out = matrixOf(reply, "out");
  const tip = out ? (rowOf(out.values, reply.query - out.first_row).slice(0, 2) as unknown as Point) : null;
  const path = pointsOf(reply, "path");
  const y: PlaneVector[] =
    tip && drawn === 1
      ? [
          {
            names: [nameOf("out", reply.query, 0), nameOf("out", reply.query, 1)],
            label: subscripted("y", reply.query),
            tip,
            paint: "accent",
            strong: true,
          },
        ]
      : [];
  return {
    title: `The values, and the output of ${reply.queries[reply.query] ?? ""}${weightTotal(reply) === 1 ? " between them" : ""}`,
    vectors: [...vectorsOf(bench, reply, "v", { letter: "v", paint: "v", strong: () => drawn === 0 }), ...y],
    hull: pointsOf(reply, "v"),
    path:
      drawn > 0
        ? {
            points: path,
            drawn: drawn * path.length,
            labels: path.map((_, row) => `${subscripted("α", row)}${subscripted("v", row)}`),
          }
        : null,
    width: planeWidth,
    height: planeHeight,
  };
}
