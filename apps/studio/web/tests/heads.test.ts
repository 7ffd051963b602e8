import { describe, expect, it } from "vitest";
import type { AboutExample, AboutReply, HeadReply, HeadsReply, HeadsSite, PairReply } from "../src/engine/messages";
import type { Tensor } from "../src/engine/tensor";
import { askedNote, askedPlace, classNote } from "../src/pages/heads/asked_words";
import { pairSentence } from "../src/pages/heads/pair_words";
import { keyY, lineMarks, linesLayout, queryY, sideMarks, strongest, tokenAt } from "../src/pages/heads/lines";
import { patchAt, patchesOf, spotOf, veils } from "../src/pages/heads/patches";
import { csvOf, heaviestKey, readsOf } from "../src/pages/heads/row";
import {
  benchAddress,
  cellChanges,
  chatChanges,
  chosenHead,
  exampleChanges,
  exampleOf,
  explainCommand,
  headRequest,
  lockedCell,
  parsedHead,
  readingOf,
  secondChanges,
  thresholdOf,
  viewOf,
} from "../src/pages/heads/state";

const nun = { text: "the nun", example: null, site: "tokens", layer: 1, head: 5, query: 1, key: 0, look: "nun reads the" };
const dog = { text: "", example: 0, site: "cross", layer: 0, head: 0, query: 0, key: 0, look: "" };
const about = {
  model: "",
  text: "",
  models: [
    { name: "english", task: "", examples: [nun] },
    { name: "translation", task: "", examples: [dog] },
  ],
} as unknown as AboutReply;

function site(name: string, layers: number, heads: number, words: string[]): HeadsSite {
  const classes = Array.from({ length: layers * heads }, (_, n) => ({
    layer: Math.floor(n / heads),
    head: n % heads,
    word: words[n] ?? "mixed",
    evidence: "",
    evenness: 0,
  }));
  return { site: name, layers, heads, queries: ["the", "nun"], keys: ["the", "nun"], roles: [], classes } as unknown as HeadsSite;
}

const reply = { sites: [site("tokens", 2, 6, ["mixed", "broad", "mixed", "previous"])] } as HeadsReply;

describe("what the address says", () => {
  it("opens with the first example, and of a model by its path with a plain text", () => {
    expect(readingOf({}, about)).toEqual({ model: "english", text: "the nun" });
    expect(readingOf({ model: "translation" }, about)).toEqual({ model: "translation", example: 0 });
    expect(readingOf({ model: "/tmp/minilm" }, about).text).toMatch(/cat/);
    expect(readingOf({}, { ...about, model: "gpt", text: "mine" })).toEqual({ model: "gpt", text: "mine" });
    expect(readingOf({ model: "english" }, { ...about, model: "gpt", text: "mine" }).text).toBe("the nun");
  });

  it("knows the example that is read", () => {
    expect(exampleOf({ model: "english", text: "the nun" }, about)).toBe(nun);
    expect(exampleOf({ model: "english", text: "another" }, about)).toBeNull();
    expect(exampleOf({ model: "translation", example: 0 }, about)).toBe(dog);
    expect(exampleOf({ model: "translation", example: 1 }, about)).toBeNull();
  });

  it("takes the head of the address, else the example's, else one that shows a pattern", () => {
    expect(parsedHead("tokens.1.0")).toEqual({ site: "tokens", layer: 1, head: 0 });
    expect(parsedHead("tokens.1")).toBeNull();
    expect(chosenHead({ head: "tokens.0.2" }, nun, reply)).toEqual({ site: "tokens", layer: 0, head: 2 });
    expect(chosenHead({}, nun, reply)).toEqual({ site: "tokens", layer: 1, head: 5 });
    expect(chosenHead({}, null, reply)).toEqual({ site: "tokens", layer: 0, head: 3 });
    expect(chosenHead({ head: "tokens.9.0" }, null, reply)).toEqual({ site: "tokens", layer: 0, head: 3 });
  });

  it("locks the address's pair, or the example's until it is let go", () => {
    const at = { site: "tokens", layer: 1, head: 5 };
    const [tokens] = reply.sites;
    expect(lockedCell({}, nun, at, tokens!)).toEqual({ query: 1, key: 0 });
    expect(lockedCell({ q: "0", k: "1" }, nun, at, tokens!)).toEqual({ query: 0, key: 1 });
    expect(lockedCell({ q: "0", k: "2" }, nun, at, tokens!)).toBeNull();
    expect(lockedCell({ q: String(cellChanges(null)["q"]) }, nun, at, tokens!)).toBeNull();
    expect(lockedCell({}, nun, { ...at, head: 0 }, tokens!)).toBeNull();
  });

  it("reads views and thresholds, and nothing else for them", () => {
    const [words] = reply.sites;
    const picture = { ...words!, reads_patches: true };
    expect(viewOf({ view: "lines" }, picture)).toBe("lines");
    expect(viewOf({}, picture)).toBe("image");
    expect(viewOf({ view: "image" }, words!)).toBe("matrix");
    expect(viewOf({ view: "nonsense" }, null)).toBe("matrix");
    expect([thresholdOf({ min: "0.05" }), thresholdOf({ min: "2" }), thresholdOf({ min: "x" })]).toEqual([0.05, 0, 0]);
  });
});

describe("changes", () => {
  it("leaves what belongs to another text behind", () => {
    const changes = exampleChanges("translation", dog);
    expect(changes).toMatchObject({ model: "translation", example: "0", text: null, head: null, q: null, k: null });
  });

  it("asks for a head, and puts one on the bench", () => {
    const at = { site: "tokens", layer: 1, head: 5 };
    expect(headRequest({ model: "m", text: "t" }, at, true)).toEqual({ model: "m", text: "t", ...at, hide_special: true });
    expect("hide_special" in headRequest({ model: "m", text: "t" }, at, false)).toBe(false);
    expect(benchAddress({ model: "m", text: "t" }, at, 3)).toEqual({ model: "m", text: "t", head: "tokens.1.5", q: "3" });
    expect(benchAddress({ model: "m", example: 0 }, at, 3)).toEqual({ model: "m", example: "0", head: "tokens.1.5", q: "3" });
    expect(explainCommand({ model: "bert", text: "the cat", second: "the dog" })).toBeNull();
    expect(explainCommand({ model: "induction", text: "it's" })).toBe("qkv explain --model 'induction' 'it'\\''s'");
  });
});

describe("what stands beside the picture", () => {
  const [words] = reply.sites;
  const says = { asked: "nun", asked_at: 1 } as HeadsReply;

  it("says of which place the model speaks, and that another query does not change it", () => {
    expect(askedPlace(says, words!)).toBe("@1, the last token");
    expect(askedPlace({ ...says, asked_at: 0 }, words!)).toBe("@0");
    expect(askedNote(says, words!, { query: 1, key: 0 })).toBeNull();
    expect(askedNote(says, words!, null)).toBeNull();
    expect(askedNote(says, words!, { query: 0, key: 0 })).toContain("asked at “nun” alone; choosing “the” @0");
    expect(askedNote(says, { ...words!, site: "source" }, { query: 1, key: 0 })).not.toBeNull();
  });

  it("says that a head's class is a mean, and the example's sentence one query", () => {
    const shown = { layer: 1, head: 5, word: "mixed", evidence: "", evenness: 0 };
    const head = { queries: ["the", "nun"], keys: ["the", "nun"], shown, patterns: [] } as unknown as HeadReply;
    expect(classNote(head, null)).toBe("A mean over all 2 queries of this text.");
    expect(classNote(head, nun as AboutExample)).toContain("that “nun” reads “the”, as said above the picture");
    expect(classNote({ ...head, shown: { ...shown, word: "-" } }, null)).toBeNull();
  });

  it("says how many queries a mean is over where not all of them see a key of the pattern", () => {
    const shown = { layer: 1, head: 3, word: "previous", evidence: "", evenness: 0 };
    const pattern = (word: string, share: number, rows: number) => ({ word, name: word, share, rows });
    const head = { queries: Array(8).fill("a"), keys: Array(8).fill("a"), shown, patterns: [pattern("previous", 0.4, 7)] };
    const note = (patterns: unknown[]) => classNote({ ...head, patterns } as unknown as HeadReply, null);
    expect(note(head.patterns)).toBe("Means over the queries that see such a key: 7 of the 8 of this text.");
    expect(note([pattern("first", 0.2, 8)])).toBe("A mean over all 8 queries of this text.");
    expect(note([...head.patterns, pattern("repeat", 0.1, 3)])).toBe(
      "Means over the queries that see such a key: 3 to 7 of the 8 of this text.",
    );
  });

  it("writes every part of a score out: the product, the scale, the softcap and the bias", () => {
    const pair = { query: "(", key: "a", dot: 0.276, scale: 0.25, softcapped: null, bias: 1.276, score: 1.345, weight: 0.5 };
    const said = pairSentence(pair as unknown as PairReply);
    expect(said).toContain("adds up to 0.276; times 0.250000 it is 0.069; the bias of this pair, 1.276, is added; the softmax");
    expect(pairSentence({ ...pair, softcapped: 0.068, bias: null } as unknown as PairReply)).toContain(
      "it is 0.069; after the softcap 0.068; the softmax of the row turns the score 1.345 into the weight 0.5000.",
    );
  });
});

const weights: Tensor = { dtype: "f32", shape: [2, 3], values: Float32Array.of(0.5, 0, 0.5, 0.1, 0.7, 0.2) };
const hidden: Tensor = { dtype: "b8", shape: [2, 3], values: Uint8Array.of(0, 1, 0, 0, 0, 0) };

describe("one row", () => {
  it("lists the heaviest key first, equals in their order, hidden ones last", () => {
    expect(readsOf(weights, hidden, 0).map((one) => one.key)).toEqual([0, 2, 1]);
    expect(readsOf(weights, null, 1).map((one) => one.key)).toEqual([1, 2, 0]);
    expect(heaviestKey(weights, 1)).toBe(1);
  });

  it("is written with all digits", () => {
    expect(csvOf(["a,", "b"], ["x", "y", "z"], weights).split("\r\n")[1]).toBe('"a,",0.5,0,0.5');
  });
});

describe("lines", () => {
  it("keeps the strongest, and paints them last", () => {
    const lines = strongest(weights.values as Float32Array, 3, 0.05, 3);
    expect(lines.map(({ query, key }) => [query, key])).toEqual([
      [0, 2],
      [0, 0],
      [1, 1],
    ]);
    expect(strongest(weights.values as Float32Array, 3, 0.5)).toHaveLength(1);
  });

  it("finds the token under the pointer on either side", () => {
    const layout = linesLayout(4, 8, 60, 600, 640);
    expect(tokenAt(layout, 4, 8, 10, queryY(layout, 2))).toEqual({ query: 2, key: null });
    expect(tokenAt(layout, 4, 8, 590, keyY(layout, 7))).toEqual({ query: null, key: 7 });
    expect(tokenAt(layout, 4, 8, 590, 2)).toEqual({ query: null, key: null });
  });
});

describe("patches of a picture", () => {
  it("lie row by row behind a class token", () => {
    const patches = patchesOf(3, 10);
    expect(patches.first).toBe(1);
    expect(patchAt(patches, 0.5, 0.9)).toBe(8);
    expect(spotOf(patches, 8)).toEqual({ row: 2, column: 1 });
    expect([spotOf(patches, 0), patchAt(patches, 1.2, 0)]).toEqual([null, null]);
  });

  it("are clear where they are read most, and veiled where they are not", () => {
    const veil = veils(patchesOf(2, 5), [0.9, 0, 0.1, 0.05, 0]);
    expect(veil).toEqual([0.85, 0, 0.425, 0.85]);
    expect(veils(patchesOf(2, 4), [0, 0, 0, 0])).toEqual([0.85, 0.85, 0.85, 0.85]);
  });
});

describe("pairs of texts", () => {
  it("are read where the address names a second one", () => {
    expect(readingOf({ model: "/bert", text: "a", context: "b" }, about)).toEqual({ model: "/bert", text: "a", second: "b" });
    expect(readingOf({ model: "/bert", text: "a" }, about)).toEqual({ model: "/bert", text: "a" });
    expect(secondChanges("")).toMatchObject({ context: null });
    const chat = readingOf({ model: "/llama", text: "Hello", chat: "yes", context: "b" }, about);
    expect(chat).toEqual({ model: "/llama", text: "Hello", chat: true });
    expect(explainCommand(chat)).toBe("qkv explain --model '/llama' 'Hello' --chat");
    expect(chatChanges(false)).toMatchObject({ chat: null, q: null });
    const at = { site: "tokens", layer: 1, head: 0 };
    expect(benchAddress({ model: "/bert", text: "a", second: "b" }, at, 2)).toMatchObject({ context: "b", q: "2" });
  });
});

describe("lines as marks", () => {
  const layout = linesLayout(2, 2, 40, 500, 400);
  const lines = strongest([0.9, 0.1, 0.2, 0.8], 2, 0);

  it("are curves whose chosen ones come last", () => {
    const marks = lineMarks(layout, lines, 0, null);
    expect(marks).toHaveLength(4);
    expect(marks.every((mark) => mark.kind === "line" && mark.curved)).toBe(true);
    const last = marks.at(-1)!;
    expect(last.kind === "line" && last.points[0]![1]).toBe(queryY(layout, 0));
    expect(lineMarks(layout, lines, null, null)).toHaveLength(4);
  });

  it("have tokens on both sides, and a line where the second text begins", () => {
    const sides = { queries: ["a", "b"], keys: ["a", "b"], query: 1, key: null, second: null };
    const labels = sideMarks(layout, sides).flatMap((mark) => (mark.kind === "label" ? [mark.text] : []));
    expect(labels).toEqual(["a", "b", "a", "b", "asks", "is read"]);
    expect(sideMarks(layout, { ...sides, second: 1 }).length - labels.length).toBe(2);
  });
});
