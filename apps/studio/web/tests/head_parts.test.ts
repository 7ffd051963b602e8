import { describe, expect, it } from "vitest";
import { Engine } from "../src/engine/engine";
import { frameBytes, frameKind, joined } from "../src/engine/frames";
import { FromParts } from "../src/engine/from_parts";
import { Frozen } from "../src/engine/frozen";
import { headOf, pairOf } from "../src/engine/head_parts";
import type { HeadPartsReply } from "../src/engine/messages";
import { withoutTensors, withTensors, type Tensor } from "../src/engine/tensor";

const f32 = (values: number[], ...shape: number[]): Tensor => ({ dtype: "f32", shape, values: Float32Array.from(values) });
const numbers = (tensor: unknown) => Array.from((tensor as Tensor).values as Float64Array, Number);

// The chapter's figure: q = k = (1, 0), (0, 1), (1, 1), scale 1/√2; the first query does not see the last key.
const [one, two] = [Math.exp(Math.SQRT1_2), Math.exp(Math.SQRT2)];
const sums = [one + 1, 1 + 2 * one, 2 * one + two];
const parts: HeadPartsReply = {
  title: "a head",
  queries: ["<s>", "cat", "sat"],
  keys: ["<s>", "cat", "sat"],
  roles: ["separator", "word", "word"],
  second_from: null,
  shown: { layer: 0, head: 0, word: "broad", evidence: "", evenness: 1 },
  patterns: [],
  q: f32([1, 0, 0, 1, 1, 1], 3, 2),
  k: f32([1, 0, 0, 1, 1, 1], 3, 2),
  lse: { dtype: "f64", shape: [3], values: Float64Array.from(sums, Math.log) },
  scale: Math.SQRT1_2,
  softcap: null,
  bias: null,
  hidden: { dtype: "b8", shape: [3, 3], values: Uint8Array.of(0, 0, 1, 0, 0, 0, 0, 0, 0) },
  hidden_special: "<s> was left out.",
};
const expected = [one / sums[0]!, 1 / sums[0]!, 0, 1 / sums[1]!, one / sums[1]!, one / sums[1]!, one / sums[2]!, one / sums[2]!, two / sums[2]!];

function close(found: unknown, wanted: number[]): void {
  const values = numbers(found);
  expect(values.length).toBe(wanted.length);
  wanted.forEach((value, n) => expect(values[n], `number ${n}`).toBeCloseTo(value, 6));
}

describe("a head from its parts", () => {
  it("has the weights, and what follows from them", () => {
    const head = headOf(parts, {});
    close(head.weights, expected);
    close(head.times_uniform, expected.map((weight, n) => weight * (n < 3 ? 2 : 3)));
    close(head.query_totals, [1, 1, 1]);
    close(head.key_totals, [0, 1, 2].map((key) => expected[key]! + expected[key + 3]! + expected[key + 6]!));
    close(head.seen, [2, 3, 3]);
    const entropyOf = (row: number) => expected.slice(3 * row, 3 * row + 3).reduce((sum, p) => sum - (p && p * Math.log(p)), 0);
    close(head.entropy, [0, 1, 2].map(entropyOf));
    expect(head.hidden_special).toBe("");
    expect(head.title).toBe("a head");
  });

  it("leaves special tokens out, and divides by what is left", () => {
    const head = headOf(parts, { hide_special: true });
    close(head.weights, [0, 1, 0, 0, 0.5, 0.5, 0, one / (one + two), two / (one + two)]);
    expect(numbers(head.hidden)).toEqual([1, 0, 1, 1, 0, 0, 1, 0, 0]);
    close(head.seen, [1, 2, 2]);
    expect(head.hidden_special).toBe("<s> was left out.");
    expect(numbers(parts.hidden)).toEqual([0, 0, 1, 0, 0, 0, 0, 0, 0]);
  });

  it("adds softcap and bias to the scores", () => {
    const bias = f32([0, 0, 0, 0, 0.25, 0, 0, 0, 0], 3, 3);
    const pair = pairOf({ ...parts, softcap: 2, bias }, { query: 1, key: 1 });
    expect(pair.score).toBeCloseTo(2 * Math.tanh(Math.SQRT1_2 / 2) + 0.25, 12);
    expect(pair.softcapped).toBeCloseTo(2 * Math.tanh(Math.SQRT1_2 / 2), 12);
    expect(pair.bias).toBe(0.25);
    expect(pairOf(parts, { query: 1, key: 1 })).toMatchObject({ softcapped: null, bias: null });
    expect(pairOf({ ...parts, bias }, { query: 0, key: 2 })).toMatchObject({ score: null, bias: null });
  });

  it("has a pair, number by number", () => {
    const pair = pairOf(parts, { query: 2, key: 2, hide_special: true });
    expect(numbers(pair.products)).toEqual([1, 1]);
    expect(pair).toMatchObject({ query: "sat", key: "sat", dot: 2, scale: Math.SQRT1_2, uniform: 0.5 });
    expect(pair.score).toBeCloseTo(Math.SQRT2, 12);
    expect(pair.weight).toBeCloseTo(two / sums[2]!, 12);
    expect(pair.weight_left).toBeCloseTo(two / (one + two), 6);
    expect(pairOf(parts, { query: 0, key: 2 })).toMatchObject({ score: null, weight: 0, weight_left: null });
  });

  it("is answered by a file that holds the parts, and by no other", async () => {
    const { json, block } = withoutTensors(parts);
    const bytes = new TextEncoder().encode(JSON.stringify(json));
    const frames = joined([frameBytes(frameKind.reply, bytes), frameBytes(frameKind.block, block)]);
    const engine = new Engine(new FromParts(new Frozen(new Map([['head_parts {"layer":1,"model":"m"}', frames]]))));
    expect(engine.answers("pair", { model: "m", layer: 1, query: 0, key: 1, hide_special: true })).toBe(true);
    expect(engine.answers("head", { model: "m", layer: 0 })).toBe(false);
    expect(engine.answers("heads", { model: "m" })).toBe(false);
    close((await engine.ask("head", { model: "m", layer: 1 })).weights, expected);
    expect((await engine.ask("pair", { model: "m", layer: 1, query: 0, key: 0 })).weight).toBeCloseTo(expected[0]!, 12);
    await expect(engine.ask("head", { model: "m", layer: 2 })).rejects.toThrow("this page is a picture of one moment".slice(5));
    expect(engine.replies.map(([key]) => key)).toEqual(['head_parts {"layer":1,"model":"m"}']);
  });
});

it("describes tensors and their block, and reads them again", () => {
  const reply = { a: parts.q, b: [parts.hidden, { seen: { dtype: "i64", shape: [1], values: BigInt64Array.of(7n) } }], c: null };
  const { json, block } = withoutTensors(reply);
  expect(withTensors(json, block)).toEqual(reply);
});
