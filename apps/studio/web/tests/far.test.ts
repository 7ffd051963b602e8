import { describe, expect, it } from "vitest";
import type { AboutReply, FarReply } from "../src/engine/messages";
import { shortWord, tickStep, ticks } from "../src/pages/far/axes";
import { cellColours, heldTile, shade, withBand, type HeldTile } from "../src/pages/far/held";
import { heldOf, samplingOf, wantedTiles } from "../src/pages/far/plan";
import { benchAddress, farRequest, fileMark, fileName, keyOf, probeCommand, queryOf, typedPlace, viewChanges, viewOf } from "../src/pages/far/state";
import { csvOfSeen } from "../src/pages/far/table";
import { cellValue, oneIn, weightText } from "../src/pages/far/values";
import { bounded, centreOf, onTheWay, panned, spotAt, wholeView, zoomed } from "../src/pages/far/view";
import { amount, ordinal } from "../src/pages/far/WalkLine";
import { duration, expectedTime, isWalked } from "../src/pages/far/walk";

const about = { model: "", text: "", file: "", mask: "", probe: "", models: [{ name: "gpt", task: "", examples: [{ text: "The cat" }] }] } as unknown as AboutReply;
const reply = { queries: 131072, keys: 131072, needles: [{ query: 100000, key: 99120, word: "Paris" }], site: "tokens" } as unknown as FarReply;
const matrix = { queries: 131072, keys: 131072, levels: 10, base: 5 };
const size = { width: 640, height: 512 };

describe("what the address says", () => {
  it("opens with a needle in 131,072 tokens", () => {
    expect(farRequest({}, about, null)).toEqual({ tokens: 131072, mask: "causal", seed: 1 });
    expect(queryOf({}, reply)).toBe(100000);
    expect(queryOf({ q: "none" }, reply)).toBeNull();
    expect(queryOf({ q: "131072" }, reply)).toBeNull();
    expect(keyOf({ k: "99120" }, reply)).toBe(99120);
  });

  it("opens the file of the command with its model, or with gpt", () => {
    expect(farRequest({}, { ...about, file: "/tmp/book.txt" }, null)).toEqual({ model: "gpt", layer: 0, head: 0 });
    expect(farRequest({ head: "tokens.2.5" }, { ...about, model: "induction", file: "/tmp/book.txt" }, null)).toEqual({ model: "induction", site: "tokens", layer: 2, head: 5 });
    expect(farRequest({ model: "none" }, { ...about, file: "/tmp/book.txt" }, null)).toMatchObject({ tokens: 131072 });
  });

  it("opens the probe that is shown, and prints no command for it", () => {
    const shown = { ...about, probe: "of attention" };
    expect(farRequest({ head: "tokens.0.3" }, shown, null)).toEqual({ head: 3 });
    expect(probeCommand({ head: 3 }, shown, null, 7)).toBeUndefined();
    expect(farRequest({ model: "gpt", text: "mine" }, shown, null)).toMatchObject({ model: "gpt", text: "mine" });
  });

  it("asks for the file that an address names before it asks the engine", () => {
    const file = fileMark({ name: "mine.txt", text: "all of it" });
    expect(file).toMatch(/^mine\.txt:[0-9a-f]{8}$/);
    expect(fileName(file)).toBe("mine.txt");
    expect(farRequest({ model: "gpt", file }, about, null)).toBeNull();
    expect(farRequest({ model: "gpt", file }, about, { name: "mine.txt", text: "all of it" })).toMatchObject({ text: "all of it" });
    expect(farRequest({ model: "gpt", file }, about, { name: "mine.txt", text: "another one" })).toBeNull();
  });

  it("says the place that is seen, whatever the width of the screen", () => {
    const near = viewOf({ at: "100000,99120", span: "32" }, matrix, size);
    expect(near.scale).toBe(20);
    expect(centreOf(near, size)).toEqual({ query: 100000.5, key: 99120.5 });
    expect(viewChanges(near, matrix, size)).toEqual({ at: "100000,99120", span: "32" });
    expect(viewOf({ at: "100000,99120", span: "32" }, matrix, { width: 320, height: 300 }).scale).toBe(10);
    expect(viewChanges(wholeView(matrix, size), matrix, size)).toEqual({ at: null, span: null });
  });

  it("reads a place as people write it", () => {
    expect(typedPlace("100000")).toEqual({ query: 100000, key: null });
    expect(typedPlace(" 100,000 99,120 ")).toEqual({ query: 100000, key: 99120 });
    expect(typedPlace("100000,99120")).toEqual({ query: 100000, key: 99120 });
    expect(typedPlace("3 x 4")).toEqual({ query: 3, key: 4 });
    expect(typedPlace("is")).toBeNull();
    expect(typedPlace("1 2 3")).toBeNull();
  });

  it("writes the command that prints the same", () => {
    expect(probeCommand(farRequest({}, about, null)!, about, null, 100000)).toBe("qkv probe --planted 131072 --seed 1 --mask causal --row 100000");
    expect(probeCommand(farRequest({ mask: "none" }, about, null)!, about, null, null)).toBe("qkv probe --planted 131072 --seed 1 --top-k 8");
    const file = { ...about, file: "/tmp/my book.txt" };
    expect(probeCommand(farRequest({ head: "tokens.1.2" }, file, null)!, file, null, 7)).toBe(
      "qkv probe --model gpt --file '/tmp/my book.txt' --site tokens --layer 1 --head 2 --row 7",
    );
  });

  it("lays a short text's row on the bench, and no long one's", () => {
    const request = { model: "gpt", text: "The cat", layer: 1, head: 2 };
    expect(benchAddress(request, { ...reply, keys: 40 }, 3)).toEqual({ model: "gpt", text: "The cat", head: "tokens.1.2", q: "3" });
    expect(benchAddress(request, reply, 3)).toBeNull();
    expect(benchAddress({ tokens: 1024 }, { ...reply, keys: 1024 }, 3)).toBeNull();
  });
});

describe("moving", () => {
  it("zooms about the pixel below the pointer", () => {
    const before = bounded({ scale: 1, query: 50000, key: 40000 }, matrix, size);
    const after = zoomed(before, 4, 100, 200, matrix, size);
    expect(after.scale).toBe(4);
    expect(spotAt(after, 100, 200)).toEqual(spotAt(before, 100, 200));
  });

  it("stays within the matrix, and at the axes where that is smaller than the picture", () => {
    const far = panned({ scale: 1, query: 10, key: 10 }, 500, 500, matrix, size);
    expect([far.query, far.key]).toEqual([0, 0]);
    const all = zoomed(far, 1e-6, 0, 0, matrix, size);
    expect(all).toEqual(wholeView(matrix, size));
    expect(spotAt(all, 0, 0)).toEqual({ query: 0, key: 0 });
    expect(spotAt(all, size.width, size.height).key).toBeGreaterThan(matrix.keys);
  });

  it("flies straight: one spot keeps its pixel all the way", () => {
    const [from, to] = [wholeView(matrix, size), viewOf({ at: "100000,99120", span: "32" }, matrix, size)];
    const fixed = (to.scale * to.key - from.scale * from.key) / (to.scale - from.scale);
    for (const t of [0.2, 0.5, 0.9]) {
      const view = onTheWay(from, to, t);
      expect((fixed - view.key) * view.scale).toBeCloseTo((fixed - from.key) * from.scale, 4);
    }
    expect(onTheWay(from, to, 1)).toEqual(to);
  });
});

describe("what is asked for", () => {
  const nothing = () => false;
  const view = { scale: 20, query: 99990, key: 99100 };

  it("is exact from near, before any walk", () => {
    expect(wantedTiles(view, size, matrix, { query: 100000, key: 99120 }, nothing).every(({ level, every }) => level === 0 && every === 1)).toBe(true);
    expect(samplingOf({ level: 4, row: 24, column: 3, every: 1 }, matrix, nothing)).toBe(1);
    expect(samplingOf({ level: 0, row: 0, column: 0, every: 1 }, { queries: 2000, keys: 2000, levels: 4, base: 0 }, nothing)).toBe(1);
  });

  it("is an estimate of the levels that are walked, and exact once the walk was there", () => {
    const tile = { level: 6, row: 2, column: 0, every: 1 };
    expect(samplingOf(tile, matrix, nothing)).toBe(4);
    expect(samplingOf(tile, matrix, (from, to) => from >= 32768 && to <= 49152)).toBe(1);
    expect(samplingOf({ ...tile, level: 8, row: 0 }, matrix, nothing)).toBeNull();
  });

  it("costs no more for a million tokens", () => {
    const million = { queries: 1048576, keys: 1048576, levels: 13, base: 8 };
    for (let level = 0; level < 11; ++level) {
      const every = samplingOf({ level, row: 0, column: 0, every: 1 }, million, nothing)!;
      expect(((256 * 2 ** level) / every) * million.keys).toBeLessThanOrEqual(1.1e9);
    }
  });

  it("holds exact tiles above estimates, and finer estimates above coarser", () => {
    const held = new Map([["1", "exact"], ["4", "some"], ["16", "few"]]);
    const tile = { level: 6, row: 0, column: 0, every: 1 };
    const of = () => heldOf(tile, ({ every }) => held.get(String(every)));
    expect(of()).toBe("exact");
    held.delete("1");
    expect(of()).toBe("some");
  });

  it("knows which bands a range of queries lies in", () => {
    expect(isWalked(new Set([0, 1]), 8192, 4000, 16384)).toBe(true);
    expect(isWalked(new Set([0, 1]), 8192, 4000, 16385)).toBe(false);
  });
});

function held(logarithms: number[], visible: number[], columns: number): HeldTile {
  const rows = logarithms.length / columns;
  const tensor = (values: Float32Array | Uint8Array) => ({ dtype: "f32", shape: [rows, columns], values });
  const numbers = Float32Array.from(logarithms);
  return heldTile({ largest: tensor(numbers), mean: tensor(numbers.map((one) => one - 1)), visible: tensor(Uint8Array.from(visible)), queries: [], keys: [], every: 1 } as never);
}

describe("colours and numbers of cells", () => {
  it("go by the logarithm, from 10⁻⁸ to 1", () => {
    expect(shade(0)).toBe(1);
    expect(shade(Math.log2(1e-4))).toBeCloseTo(0.5);
    expect(shade(Math.log2(1e-8))).toBeCloseTo(0);
    expect(shade(-Infinity)).toBe(0);
  });

  it("leave hidden cells to the hatching, and mark what is no number", () => {
    const colours = cellColours(held([0, -3, -Infinity, NaN], [255, 0, 9, 255], 2), "largest", "light");
    expect([3, 7, 11, 15].map((at) => colours[at])).toEqual([255, 0, 255, 255]);
    expect([...colours.slice(12, 15)]).toEqual([214, 58, 48]);
  });

  it("put a band in its rows of the whole, and no others", () => {
    const whole = held([-1, -2, -3, -4, -5, -6], [255, 255, 255, 255, 255, 255], 2);
    const next = withBand(whole, held([-9, -Infinity], [255, 0], 2), 1);
    expect([...next.largest!]).toEqual([-1, -2, -9, -Infinity, -5, -6]);
    expect([...next.visible!]).toEqual([255, 255, 255, 0, 255, 255]);
    expect([...whole.largest!]).toEqual([-1, -2, -3, -4, -5, -6]);
  });

  it("say the value of the cell below a spot, of the tile or of what stands in", () => {
    const small = { queries: 3, keys: 2, levels: 1, base: 0 };
    const whole = held([-1, -2, -3, -Infinity, -5, -6], [255, 0, 255, 255, 128, 255], 2);
    const at = (query: number, key: number) => cellValue({ query, key }, { scale: 20, query: 0, key: 0 }, small, () => undefined, whole);
    expect(at(1.5, 0.2)).toMatchObject({ fromQuery: 1, toQuery: 2, largest: 0.125, mean: 0.0625, hidden: false });
    expect(at(0, 1)).toMatchObject({ hidden: true });
    expect(at(1, 1)).toMatchObject({ largest: 0, hidden: false });
    expect(at(3, 0)).toBeNull();
  });

  it("are written in full, without an exponent of a programmer", () => {
    expect([0.39359629, 0.002130470, 1, 0].map((one) => weightText(one))).toEqual(["0.3936", "0.002130", "1.000", "0"]);
    expect(weightText(2.92e-7)).toBe("2.92 × 10⁻⁷");
    expect([0.39359629, 2.92e-7, 1e-30, 0].map(oneIn)).toEqual(["1 in 2.5", "1 in 3.4 million", "", ""]);
    expect([0.2, 27, 240, 7200].map(duration)).toEqual(["1 s", "27 s", "4 min", "2.0 h"]);
  });

  it("count in words that people read", () => {
    expect([1, 2, 3, 4, 11, 32, 64, 512, 1024].map(ordinal)).toEqual(["1st", "2nd", "3rd", "4th", "11th", "32nd", "64th", "512th", "1,024th"]);
    expect([900, 31_900_000, 17179869184, 1.1e12].map(amount)).toEqual(["900", "31.9 million", "17.2 billion", "1.1 trillion"]);
  });

  it("say how long a walk takes, of a server's two cores or of the page's one thread", () => {
    expect(expectedTime(131072 ** 2, false)).toBe("two cores about 13 s");
    expect(expectedTime(131072 ** 2, true)).toBe("one thread in this page about 57 s");
    expect(expectedTime(1048576 ** 2, true)).toBe("one thread in this page about 61 min");
  });

  it("are a table of what is seen", () => {
    const small = { queries: 2, keys: 2, levels: 1, base: 0 };
    const words = { query: (at: number) => ["a", "b,c"][at]!, key: (at: number) => ["d", "e"][at]! };
    const text = csvOfSeen({ view: { scale: 10, query: 0, key: 0 }, size: { width: 20, height: 20 }, matrix: small, shown: "largest", held: () => undefined, whole: held([-1, -2, -3, -4], [255, 0, 255, 255], 2), words });
    expect(text).toBe('largest weight of 1 x 1 pairs,0 d,1 e\r\n0 a,0.500,\r\n"1 b,c",0.125,0.0625\r\n');
  });
});

describe("axes", () => {
  it("have round ticks, far enough apart", () => {
    expect([0.005, 0.05, 0.9, 20, 56].map((scale) => tickStep(scale, 90))).toEqual([20000, 2000, 100, 5, 2]);
    expect(ticks(99.5, 20, 100, 102, 1)).toEqual([
      { at: 100, pixel: 20 },
      { at: 101, pixel: 40 },
    ]);
  });

  it("shorten words by characters", () => {
    expect(shortWord("remembered", 7)).toBe("rememb…");
    expect(shortWord("a b", 7)).toBe("a␣b");
  });
});
