// The chapter's figure as the engine replies to it, shortened to what pictures are drawn from.

import type { BenchMatrix, BenchReply, BenchStep } from "../src/engine/messages";
import type { Tensor } from "../src/engine/tensor";

export function matrix(rows: number[][]): Tensor {
  return { dtype: "f64", shape: [rows.length, rows[0]?.length ?? 0], values: Float64Array.from(rows.flat()) };
}

const words = ["the", "cat", "sat"];
const hides: Tensor = { dtype: "b8", shape: [3, 3], values: Uint8Array.from([0, 1, 1, 0, 0, 1, 0, 0, 0]) };
const h = Math.SQRT1_2;

function named(name: string, rows: number[][], columns: string[], hidden: Tensor | null = null): BenchMatrix {
  const role = ["q", "k", "v"].includes(name) ? "input" : "forward";
  const formula = { text: name, mathml: `<mi>${name}</mi>` };
  const decimals = rows.flat().every((value) => Number.isInteger(value)) ? 0 : 3;
  return {
    name,
    title: name,
    meaning: name,
    rows: words,
    columns,
    first_row: 0,
    values: matrix(rows),
    hidden,
    sums: null,
    role,
    decimals,
    formula,
  };
}

function step(id: string, made: string[], inner: BenchStep[] = []): BenchStep {
  return { id, title: id, sentence: `What ${id} does.`, formulas: [], made, used: [], inner };
}

export function chapter({ masked = false } = {}): BenchReply {
  const pairs = (name: string, rows: number[][]) => named(name, rows, words, masked ? hides : null);
  const two = ["1", "2"];
  const scores = [
    [h, 0, h],
    [0, h, h],
    [h, h, 2 * h],
  ];
  return {
    title: "Three tokens",
    queries: words,
    keys: words,
    query: 1,
    d_k: 2,
    d_v: 2,
    scale: h,
    matrices: [
      named(
        "q",
        [
          [1, 0],
          [0, 1],
          [1, 1],
        ],
        two,
      ),
      named(
        "k",
        [
          [1, 0],
          [0, 1],
          [1, 1],
        ],
        two,
      ),
      named(
        "v",
        [
          [2, 0],
          [0, 3],
          [1, 1],
        ],
        two,
      ),
      pairs("raw", [
        [1, 0, 1],
        [0, 1, 1],
        [1, 1, 2],
      ]),
      pairs("scaled", scores),
      ...(masked
        ? [
            pairs(
              "masked",
              scores.map((row, r) => row.map((score, c) => (c > r ? -Infinity : score))),
            ),
          ]
        : []),
      named("max", [[h], [h], [2 * h]], [""]),
      pairs("exp", [
        [1, 0.493, 1],
        [0.493, 1, 1],
        [0.493, 0.493, 1],
      ]),
      named("sum", [[2.493], [2.493], [1.986]], [""]),
      pairs("weights", [
        [0.401, 0.198, 0.401],
        [0.198, 0.401, 0.401],
        [0.248, 0.248, 0.503],
      ]),
      named(
        "path",
        [
          [0.396, 0],
          [0.396, 1.203],
          [0.797, 1.604],
        ],
        two,
      ),
      named(
        "out",
        [
          [1.203, 0.994],
          [0.797, 1.604],
          [1, 1.248],
        ],
        two,
      ),
    ],
    steps: [
      step("query", ["q"]),
      step("dots", ["raw"]),
      step("scale", ["scaled"]),
      step(
        "softmax",
        ["max", "exp", "sum", "weights"],
        ["max", "exp", "sum", "weights"].map((name) => step(name, [name])),
      ),
      step("sum", ["out"]),
    ],
    back: [],
    remarks: [],
    times_uniform: matrix([[1.203, 0.594, 1.203], [0.594, 1.203, 1.203], [0.744, 0.744, 1.509]]),
    wrong: null,
    nudge: null,
  };
}
