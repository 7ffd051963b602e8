import { describe, expect, it } from "vitest";
import type { AskedPicture, BottleneckReply, DotPicture, MixPicture, ProductPicture, SplitPicture } from "../src/engine/messages";
import type { Tensor } from "../src/engine/tensor";
import { lettersOf, textOf } from "../src/pages/learn/bottleneck/Bottleneck";
import { attentionDrawing, countsAt, partsAt, saysAt, vectorDrawing } from "../src/pages/learn/bottleneck/drawings";
import { operationsOf } from "../src/pages/step/InCode";
import { askedDrawing } from "../src/pages/step/pictures/asked";
import { decimalsOf } from "../src/pages/step/pictures/Dot";
import { dotDrawing, tipsOf } from "../src/pages/step/pictures/dot";
import { mixDrawing } from "../src/pages/step/pictures/mix";
import { picturesRequest } from "../src/pages/step/pictures/Pictures";
import { cellOf } from "../src/pages/step/pictures/Product";
import { productDrawing, sumAt } from "../src/pages/step/pictures/product";
import { placeAt, splitDrawing } from "../src/pages/step/pictures/split";
import { isNeeded } from "../src/worker/answering";
import { matrix } from "./chapter";

function vector(...values: number[]): Tensor {
  return { dtype: "f64", shape: [values.length], values: Float64Array.from(values) };
}

function cube(shape: number[], values: number[]): Tensor {
  return { dtype: "f64", shape, values: Float64Array.from(values) };
}

const formula = { text: "", mathml: "" };

const dot: DotPicture = {
  key: 1,
  query_name: "cat",
  key_name: "sat",
  q: vector(3, 4),
  k: vector(4, 3),
  products: vector(12, 12),
  sums: vector(12, 24),
  dot: 24,
  q_length: 5,
  k_length: 5,
  cosine: 0.96,
  degrees: 16.26,
  by_numbers: formula,
  by_angle: formula,
  sentence: "",
};

describe("a dot product", () => {
  it("is drawn where its vectors lie, with the engine's angle", () => {
    expect(tipsOf(dot)).toEqual([
      [3, 4],
      [4, 3],
    ]);
    expect(JSON.stringify(dotDrawing(dot).marks)).toContain("16.3°");
  });

  it("of longer vectors is drawn in the plane of both", () => {
    const [q, k] = tipsOf({ ...dot, q: vector(3, 4, 0), k: vector(4, 3, 0) });
    expect(q).toEqual([5, 0]);
    expect(Math.hypot(...k)).toBeCloseTo(5);
    expect(k[1]).toBeGreaterThan(0);
  });

  it("has no angle where a vector has no length", () => {
    expect(JSON.stringify(dotDrawing({ ...dot, q: vector(0, 0), cosine: null, degrees: null }).marks)).not.toContain("°");
  });

  it("shows whole numbers as such", () => {
    expect([decimalsOf([1, 2]), decimalsOf([1, 2.5])]).toEqual([0, 3]);
  });
});

const product: ProductPicture = {
  queries: ["a", "b"],
  keys: ["c", "d"],
  products: cube([2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]),
  sums: cube([2, 2, 2], [1, 3, 3, 7, 5, 11, 7, 15]),
  sentence: "",
};

describe("a matrix product", () => {
  it("piles up the engine's sums", () => {
    expect([0, 1, 2].map((count) => sumAt(product, 1, 0, count))).toEqual([0, 5, 11]);
  });

  it("finds the cell that is pointed at", () => {
    const drawing = productDrawing({ picture: product, q: matrix([[1, 2], [3, 4]]), k: matrix([[1, 2], [3, 4]]), at: 2, cell: [0, 1], decimals: 0, ground: "light" });
    const cells = new Set<string>();
    for (let x = 0; x < drawing.width; x += 10) for (let y = 0; y < drawing.height; y += 10) cells.add(String(drawing.cellAt(x, y)));
    expect([...cells].sort()).toEqual(["0,0", "0,1", "1,0", "1,1", "null"]);
  });

  it("takes a cell of the address only where there is one", () => {
    expect(cellOf("1,0", product, 0)).toEqual([1, 0]);
    for (const text of [undefined, "9,9", "x"]) expect(cellOf(text, product, 1)).toEqual([1, 0]);
  });
});

it("a mixture is drawn with a disc as large as each share", () => {
  const mix: MixPicture = { masses: vector(1, 3), shares: vector(0.25, 0.75), path: matrix([[1, 0], [1, 1]]), mixture: vector(1, 1), formula, sentence: "" };
  const radii = mixDrawing(mix, matrix([[4, 0], [0, 4]])).marks.flatMap((mark) => (mark.kind === "disc" && mark.fill === "v" ? [mark.radius] : []));
  expect(radii).toHaveLength(2);
  expect(radii[1]).toBeGreaterThan(radii[0]!);
});

describe("the split into heads", () => {
  const split: SplitPicture = { tokens: 2, heads: 2, width: 2, places: { dtype: "i64", shape: [2, 2, 2], values: BigInt64Array.from([0n, 1n, 4n, 5n, 2n, 3n, 6n, 7n]) }, sentence: "" };

  it("puts every number at a place of its own at each stage", () => {
    for (const stage of [0, 1, 2]) {
      const places = new Set<string>();
      for (let h = 0; h < 2; ++h) for (let t = 0; t < 2; ++t) for (let c = 0; c < 2; ++c) places.add(JSON.stringify(placeAt(stage, t, h, c, split)));
      expect(places.size).toBe(8);
    }
  });

  it("keeps the numbers while they move", () => {
    for (const at of [0, 0.5, 1, 1.5, 2]) {
      const numbers = splitDrawing(split, ["a", "b"], at).marks.flatMap((mark) => (mark.kind === "label" && /^\d$/.test(mark.text) && mark.bold ? [mark.text] : []));
      expect(numbers.sort()).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    }
  });
});

it("who asks whom has a line for each pair, and numbers for the query that is pointed at", () => {
  const picture: AskedPicture = { queries: ["le", "chat"], keys: ["the", "cat", "sat"], weights: matrix([[0.2, 0.5, 0.3], [0.1, 0.8, 0.1]]), sentence: "" };
  expect(askedDrawing(picture, null).marks.filter((mark) => mark.kind === "line")).toHaveLength(6);
  expect(JSON.stringify(askedDrawing(picture, 1).marks)).toContain("cat 0.800");
});

describe("what the page asks", () => {
  it("is nothing while all pictures are folded", () => {
    expect(picturesRequest({})).toBeNull();
    expect(picturesRequest({ pic: "none" })).toBeNull();
  });

  it("is the bench and what the picture is about", () => {
    expect(picturesRequest({ pic: "dot", pk: "2", q: "2", wrong: "no-max", back: "1,0" })).toEqual({ query: 2, key: 2 });
    expect(picturesRequest({ pic: "mix", mass: "1,2,1", pk: "x" })).toEqual({ masses: "1,2,1" });
    expect(picturesRequest({ pic: "asks", other: "a" })).toEqual({ other: "a" });
    expect(picturesRequest({ pic: "asks", other: "a", seed: "1", heads: "1" })).toMatchObject({ other: "a" });
    for (const own of [{ model: "gpt", text: "a b" }, { context: "x y" }, { seed: "1" }]) {
      expect(picturesRequest({ pic: "asks", other: "a", ...own })).not.toHaveProperty("other");
    }
  });

  it("shows the operations of a step, and all where it has none", () => {
    const operation = (id: string, steps: string[]) => ({ id, steps, title: id, why: "", formula, file: "", symbol: "", code: [] });
    const reply = { languages: [], operations: [operation("dots", ["dots"]), operation("max", ["softmax", "max"])] };
    expect(operationsOf(reply, "softmax").map(({ id }) => id)).toEqual(["max"]);
    expect(operationsOf(reply, "").map(({ id }) => id)).toEqual(["dots", "max"]);
  });
});

describe("the bottleneck", () => {
  const answer = { parameters: 1, letters: ["a", "c"], right: [true, false], rights: 1, sure: vector(1, 0.5) };
  const reply: BottleneckReply = {
    letters: ["a", "b"],
    longest: 24,
    most: 40,
    states: matrix([[0.5, -0.5, 0], [1, 0, -1]]),
    share: matrix([[1, 0], [0.75, 0.25]]),
    vector: answer,
    attention: { ...answer, letters: ["a", "b"], right: [true, true], rights: 2 },
    weights: matrix([[0.9, 0.1], [0.2, 0.8]]),
    sentence: "",
    crowding: "",
  };
  const look = (at: number) => ({ reply, at, width: 400, ground: "light" as const });

  it("reads, then writes", () => {
    expect([0, 1, 2, 3, 4].map((at) => countsAt(look(at)))).toEqual([
      { read: 0, written: 0 },
      { read: 1, written: 0 },
      { read: 2, written: 0 },
      { read: 2, written: 1 },
      { read: 2, written: 2 },
    ]);
    expect(saysAt(reply, 3)).toBe("all read, 1 of 2 written");
  });

  it("cuts the vector into the engine's shares, and between two states slides", () => {
    expect(partsAt(reply.share, 1)).toEqual([[0, 1], [1, 1]]);
    expect(partsAt(reply.share, 2)).toEqual([[0, 0.75], [0.75, 1]]);
    expect(partsAt(reply.share, 1.5)[0]![1]).toBeCloseTo(0.875);
    expect(partsAt(reply.share, 4)).toEqual(partsAt(reply.share, 2));
  });

  it("strikes a wrong letter through, so that colour is not all that tells it", () => {
    const struck = (at: number) => vectorDrawing(look(at)).marks.filter((mark) => mark.kind === "line" && mark.stroke === "#a3241b");
    expect([struck(3).length, struck(4).length]).toEqual([0, 1]);
  });

  it("draws a weight as a line from a letter written to a state", () => {
    const lines = attentionDrawing(look(3)).marks.filter((mark) => mark.kind === "line" && mark.stroke === "q");
    expect(lines).toHaveLength(2);
  });

  it("takes the letters of what is typed", () => {
    expect(lettersOf("A long, Sentence 7!")).toBe("alongsentence");
    expect(textOf({ text: "123" })).toBe("alongsentencewillnotfit");
  });
});

it("a Worker brings the models in a folder of the box for the questions about them", () => {
  expect(isNeeded("bottleneck/vector", "bottleneck_lengths", "{}")).toBe(true);
  expect(isNeeded("bottleneck/vector", "heads", '{"model":"induction"}')).toBe(false);
  expect(isNeeded("induction", "heads", '{"model":"induction"}')).toBe(true);
});
