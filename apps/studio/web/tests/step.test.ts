import { describe, expect, it } from "vitest";
import { meant, type Key } from "../src/app/keys";
import type { BenchStep } from "../src/engine/messages";
import { ringOf } from "../src/parts/links";
import { nearest } from "../src/parts/StepRail";
import { identity, withCell, withoutRow, withRows } from "../src/pages/step/matrix_text";
import {
  addedWord,
  asksItself,
  benchRequest,
  changeRequest,
  editChanges,
  explainCommand,
  fromX,
  isBackward,
  movedOutput,
  queryOf,
  removedWord,
  setNumbers,
  textChanges,
  toX,
} from "../src/pages/step/state";
import { innerStop, nextStop, outerStop, partsOf, stopAt, stopOf, stopsOf } from "../src/pages/step/stops";
import { withFields } from "../src/app/address";

describe("matrices as text", () => {
  it("stay as written around the number that changes", () => {
    expect(withCell("1.50,0;0,1e-3", 0, 1, "-2")).toBe("1.50,-2;0,1e-3");
    expect(withoutRow("1,0;0,1;1,1", 1)).toBe("1,0;1,1");
    expect(identity(2)).toBe("1,0;0,1");
  });

  it("get and lose rows at the end", () => {
    expect(withRows("1,0", 3, "1,0;0,1;1,1")).toBe("1,0;0,1;1,1");
    expect(withRows("1,0,5;2,2,2", 3, "7,7")).toBe("1,0,5;2,2,2;7,7,0");
    expect(withRows("1,0;0,1", 1, "")).toBe("1,0");
  });
});

describe("the bench's request", () => {
  it("is the chapter's figure by default", () => {
    const matrix = "1,0;0,1;1,1";
    expect(benchRequest({})).toEqual({});
    expect(benchRequest({ step: "4", q: "2" })).toEqual({ query: 2 });
    expect(benchRequest({ Q: "1,0;0,1;1,2" })).toEqual({
      tokens: "the cat sat",
      q: "1,0;0,1;1,2",
      k: matrix,
      v: "2,0;0,3;1,1",
    });
  });

  it("has rows for as many words as there are", () => {
    expect(benchRequest({ text: "a b c d" })).toMatchObject({ q: "1,0;0,1;1,1;1,0" });
    expect(benchRequest({ text: "a b", context: "x y z" })).toMatchObject({
      q: "1,0;0,1",
      k: "1,0;0,1;1,1",
      context: "x y z",
    });
  });

  it("survives a query that is none", () => {
    expect([..."9x"].map((q) => queryOf({ q }))).toEqual([1, 1]);
    expect(queryOf({ text: "one" })).toBe(0);
    expect(queryOf({ q: "-1" })).toBe(1);
  });

  it("asks for the backward pass of one output, or of a gradient that was typed", () => {
    expect(benchRequest({ back: "2,1" })).toMatchObject({ move: "2,1" });
    expect(benchRequest({ back: "x" })).toMatchObject({ move: "1,0" });
    expect(benchRequest({ dY: "0,1" })).toMatchObject({ d_out: "0,1" });
    expect(benchRequest({ dY: "0,1", back: "1,1" })).not.toHaveProperty("move");
    expect(isBackward({})).toBe(false);
    expect(movedOutput({ back: "1,1" })).toBe("1,1");
  });

  it("sends a width only where scaling is forgotten", () => {
    expect(benchRequest({ wrong: "no-scale", d: "512" })).toMatchObject({ wrong: "no-scale", wrong_d: 512 });
    expect(benchRequest({ wrong: "mask-after", d: "512" })).not.toHaveProperty("wrong_d");
  });

  it("leaves a model's head as the model has it", () => {
    const scores = { mask: "causal", bias: "alibi", scale: "2", softcap: "5" };
    expect(benchRequest(scores)).toEqual({ mask: "causal", bias: "alibi", scale: 2, softcap: 5 });
    expect(benchRequest({ ...scores, model: "gpt", text: "a" })).toEqual({ model: "gpt", text: "a" });
  });

  it("shows the lack of positions on shuffled words", () => {
    expect(benchRequest({ wrong: "no-positions" })).toEqual({ wrong: "shuffled" });
    expect(benchRequest({ wrong: "wrong-axis" })).toEqual({ wrong: "wrong-axis" });
  });

  it("takes a head of a model apart", () => {
    expect(benchRequest({ model: "induction", text: "abc", head: "tokens.1.0" })).toEqual({
      model: "induction",
      text: "abc",
      site: "tokens",
      layer: 1,
      head: 0,
    });
  });
});

describe("another text", () => {
  it("asks the keys of a short text that asks itself in one head", () => {
    const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(" ");
    expect(asksItself({})).toBe(true);
    expect(asksItself({ tokens: words(12) })).toBe(true);
    expect(asksItself({ tokens: words(13) })).toBe(false);
    expect(asksItself({ q: Array(13).fill("1,0").join(";") })).toBe(false);
    expect(asksItself({ seed: "1", tokens: words(3) })).toBe(false);
    expect(asksItself({ seed: "1", heads: "1", tokens: words(3) })).toBe(true);
    expect(asksItself({ context: "a b", tokens: "c d" })).toBe(false);
  });
});

describe("edits", () => {
  it("of a number change its matrix alone, and an undone one leaves no trace", () => {
    expect(editChanges({}, "k", 2, 1, 4)).toEqual({ K: "1,0;0,1;1,4", nudge: null });
    expect(editChanges({ K: "1,0;0,1;1,4" }, "k", 2, 1, 1)).toEqual({ K: null, nudge: null });
    expect(editChanges({}, "weights", 0, 0, 1)).toEqual({});
  });

  it("of the words keep the rows of those that stay", () => {
    const removed = withFields({ q: "2" }, removedWord({ q: "2" }, 0));
    expect(removed).toMatchObject({ text: "cat sat", Q: "0,1;1,1", V: "0,3;1,1" });
    expect(queryOf(removed)).toBe(1);
    expect(addedWord({})["text"]).toBe("the cat sat down");
    expect(textChanges({ Q: "5,5;0,1;1,1" }, "a b")).toMatchObject({ text: "a b", Q: "5,5;0,1" });
  });

  it("to X and W keep every number: each word picks its row of W", () => {
    const fields = withFields({}, toX({}));
    expect(benchRequest(fields)).toMatchObject({ x: "1,0,0;0,1,0;0,0,1", w_q: "1,0;0,1;1,1", w_v: "2,0;0,3;1,1" });
    const q = { dtype: "f64", shape: [1, 2], values: Float64Array.of(0.5, -1) } as const;
    const tensor = { ...q, shape: [1, 2] };
    expect(withFields(fields, fromX(tensor, tensor, tensor))).toEqual({ Q: "0.5,-1", K: "0.5,-1", V: "0.5,-1" });
  });

  it("can be printed by the command, whatever the words are", () => {
    expect(explainCommand({}, null)).toBe(
      "qkv explain 'the cat sat' --q '[[1,0],[0,1],[1,1]]' --k '[[1,0],[0,1],[1,1]]' --v '[[2,0],[0,3],[1,1]]' --query 1",
    );
    expect(explainCommand({ text: "it's; rm" }, null)).toContain("'it'\\''s; rm'");
    expect(explainCommand({ X: "1" }, { Q: "1", K: "2", V: "3" })).toContain("--q '[[1]]' --k '[[2]]' --v '[[3]]'");
    expect(explainCommand({ model: "induction", text: "abcab" }, null)).toBe("qkv explain --model 'induction' 'abcab'");
  });
});

const made = (title: string, inner: BenchStep[] = []): BenchStep => ({
  id: title,
  title,
  sentence: "",
  formulas: [],
  made: [title, ...inner.flatMap((one) => one.made)],
  used: [],
  inner,
});
const stops = stopsOf(
  [
    made("a"),
    {
      ...made(
        "b",
        ["p", "q", "r", "s"].map((part) => made(part)),
      ),
      made: ["p", "q", "r", "s"],
    },
    made("c"),
  ],
  "ready",
);

describe("edits of a model's head", () => {
  const head = { model: "gpt", text: "He gave", head: "tokens.1.2", q: "1" };

  it("are numbers by their names, the last of each", () => {
    const first = withFields(head, editChanges(head, "k", 2, 5, 0.7));
    expect(first["set"]).toBe("k:2,5:0.7");
    const both = withFields(first, editChanges(first, "q", 1, 0, -3));
    const again = withFields(both, editChanges(both, "k", 2, 5, 1));
    expect(setNumbers(again)).toEqual(["q:1,0:-3", "k:2,5:1"]);
    expect(benchRequest(again)).toMatchObject({ model: "gpt", set: "q:1,0:-3;k:2,5:1" });
    expect(setNumbers({ set: "k:2,5:1" })).toEqual([]);
  });

  it("run through the model", () => {
    const changes = ["set 1.2=k:2,5:0.7", "set 1.2=q:1,0:-3"];
    expect(changeRequest({ ...head, set: "k:2,5:0.7;q:1,0:-3" })).toEqual({ model: "gpt", text: "He gave", changes });
    expect(changeRequest({ model: "copy", example: "3", head: "cross.0.1", set: "v:0,0:1" })).toEqual({
      model: "copy",
      example: 3,
      changes: ["set cross:0.1=v:0,0:1"],
    });
    expect(changeRequest(head)).toEqual({ model: "gpt", text: "He gave", untouched: true });
    expect(changeRequest({ ...head, context: "a second text" })).toBeNull();
    expect(changeRequest({ Q: "1,0" })).toBeNull();
  });
});

describe("stops on the rail", () => {
  it("divide a step by its inner ones, the last of which ends it", () => {
    expect(stops.map((stop) => [stop.key, stop.at])).toEqual([
      ["0", 0],
      ["1", 1],
      ["2.1", 1.25],
      ["2.2", 1.5],
      ["2.3", 1.75],
      ["2.4", 2],
      ["2", 2],
      ["3", 3],
    ]);
  });

  it("go from step to step, and inside from part to part", () => {
    const at = (key: string) => stopOf(stops, key);
    expect(nextStop(stops, at("1"), 1).key).toBe("2");
    expect(nextStop(stops, at("2.1"), 1).key).toBe("2.2");
    expect(nextStop(stops, at("2.3"), 1).key).toBe("2.4");
    expect(nextStop(stops, at("2.4"), 1).key).toBe("3");
    expect(nextStop(stops, at("2"), -1).key).toBe("1");
    expect(nextStop(stops, at("2.1"), -1).key).toBe("1");
    expect(nextStop(stops, at("3"), 1).key).toBe("3");
    expect(innerStop(stops, at("2"))?.key).toBe("2.1");
    expect(innerStop(stops, at("1"))?.key).toBe("2.1");
    expect(innerStop(stops, at("3"))).toBeNull();
    expect(outerStop(stops, at("2.2")).key).toBe("2");
  });

  it("are what the handle is on the way to", () => {
    expect([0, 0.2, 1, 1.1, 1.8, 2.01, 9].map((at) => stopAt(stops, at).key)).toEqual([
      "0",
      "1",
      "1",
      "2.1",
      "2.4",
      "3",
      "3",
    ]);
  });

  it("take an address that is none", () => {
    expect(stopOf(stops, "nonsense").key).toBe("0");
    expect(stopOf(stops, "99").key).toBe("3");
    expect(stopOf(stops, undefined).key).toBe("0");
  });

  it("catch the handle where it is let go", () => {
    expect(nearest(stops, 1.3)?.at).toBe(1.25);
    expect(nearest(stops, 99)?.at).toBe(3);
  });
});

describe("parts of a step", () => {
  it("begin with the step itself where they follow on what it makes", () => {
    expect(partsOf(made("scale", [made("bias"), made("mask")])).map((part) => part.title)).toEqual([
      "scale",
      "bias",
      "mask",
    ]);
    expect(partsOf({ ...made("softmax", [made("max"), made("weights")]), made: ["max", "weights"] })).toHaveLength(2);
    expect(partsOf(made("alone"))).toEqual([]);
  });
});

describe("rings", () => {
  const rings = { of: "weights:1,2", sources: ["exp:1,2", "q:1,*", "v:*,0"], uses: ["out:*,*"] };
  it.each([
    ["weights:1,2", "self"],
    ["exp:1,2", "source"],
    ["q:1,7", "source"],
    ["q:2,1", null],
    ["v:4,0", "source"],
    ["out:3,3", "use"],
    ["weights:1,*", null],
  ])("%s: %s", (name, ring) => {
    expect(ringOf(rings, name)).toBe(ring);
  });
});

describe("keys", () => {
  const next: Key = { keys: ["ArrowRight"], shown: "→", does: "", run: () => {}, yields: true };
  const always: Key = { keys: ["n"], shown: "n", does: "", run: () => {} };
  const press = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });
  const within = (what: string) => (selector: string) => selector.includes(what);
  const nowhere = () => false;

  it("mean what the page says", () => {
    expect(meant(press("ArrowRight"), nowhere, [next, always])).toBe(next);
    expect(meant(press("x"), nowhere, [next, always])).toBeNull();
  });

  it("leave arrows to a matrix, everything to a field, and the browser's own keys alone", () => {
    expect(meant(press("ArrowRight"), within("[role=grid]"), [next])).toBeNull();
    expect(meant(press("n"), within("[role=grid]"), [always])).toBe(always);
    expect(meant(press("n"), within("textarea"), [always])).toBeNull();
    expect(meant(press("n", { ctrlKey: true }), nowhere, [always])).toBeNull();
  });
});
