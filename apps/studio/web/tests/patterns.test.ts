import { describe, expect, it } from "vitest";
import { bytes, flops, grouped, percent } from "../src/drawing/amounts";
import { csvOf, quoted } from "../src/drawing/csv";
import { cellFrom, cellUnder, ticksOf, type GridPlace } from "../src/drawing/grid";
import type { MaskWordShown, PositionsReply } from "../src/engine/messages";
import type { Tensor } from "../src/engine/tensor";
import { costCommand, costRequest, powersIn, presetChanges } from "../src/pages/patterns/cost_state";
import { meaningOf, rowOfQuery, spanOf, tilesOf, type DrawnMask } from "../src/pages/patterns/mask_cells";
import { maskPicture } from "../src/pages/patterns/mask_marks";
import {
  benchFields,
  faultOf,
  lengthAt,
  maskRequest,
  patternsOf,
  shapeOf,
  sliderAt,
  withOperator,
  withWord,
} from "../src/pages/patterns/mask_state";
import { positionsRequest, settingsOf } from "../src/pages/patterns/positions_state";
import { nearest } from "../src/parts/LineChart";
import { shownPairs, turnsDrawing } from "../src/pages/patterns/turns";

function matrix(rows: number[][]): Tensor {
  return { dtype: "f32", shape: [rows.length, rows[0]!.length], values: Float32Array.from(rows.flat()) };
}

function map(share: number[][], more: Partial<DrawnMask> = {}): DrawnMask {
  const [tq, tk] = [share.length, share[0]!.length];
  return {
    mask: "causal",
    batch: 1,
    heads: 1,
    tq,
    tk,
    tile_queries: 64,
    tile_keys: 64,
    pairs_kept: 0,
    pairs_total: tq * tk,
    coverage: 0,
    cost: 0,
    skip: 0,
    full: 0,
    partial: 0,
    tiles: 0,
    cell_queries: 1,
    cell_keys: 1,
    share: matrix(share),
    blind_rows: 0,
    first_blind: [],
    sentence: "",
    words: [],
    ...more,
  };
}

describe("what the address says of the mask", () => {
  const drawn = { map: true, cells: 128 };
  it("opens with the mask that the studio was given, else with one of its own", () => {
    expect(maskRequest({}, "")).toEqual({ mask: "causal & window(512)", tq: 4096, tk: 4096, ...drawn });
    expect(maskRequest({}, "causal")).toEqual({ mask: "causal", tq: 512, tk: 512, ...drawn });
    expect(maskRequest({ mask: "all", tq: "3", tile: "2x4", heads: "2", head: "1" }, "causal")).toEqual({
      mask: "all",
      tq: 3,
      tk: 512,
      tile: "2x4",
      heads: 2,
      head: 1,
      ...drawn,
    });
  });
  it("leaves out lengths that are no numbers", () => {
    expect(shapeOf({ tq: "many", tk: "-3" }, "")).toEqual({ tq: 4096, tk: 4096 });
  });
  it("slides over powers of two and what lies between them", () => {
    expect([4, 5, 6, 7, 34].map(lengthAt)).toEqual([4, 6, 8, 12, 131072]);
    for (let at = 4; at <= 34; ++at) expect(sliderAt(lengthAt(at))).toBe(at);
    expect(sliderAt(1)).toBe(4);
  });
});

describe("the expression", () => {
  it("takes words at its end, joined by &", () => {
    expect(withWord("", 0, 0, "causal").text).toBe("causal");
    expect(withWord("causal", 2, 2, "window(8)")).toEqual({ text: "causal & window(8)", caret: 18 });
    expect(withWord("causal | ", 9, 9, "keys(3)").text).toBe("causal | keys(3)");
    expect(withWord("!", 1, 1, "causal").text).toBe("!causal");
  });
  it("takes words instead of what is selected", () => {
    expect(withWord("causal & windw(8)", 9, 17, "window(8)").text).toBe("causal & window(8)");
  });
  it("takes signs", () => {
    expect(withOperator("causal", 6, 6, "|").text).toBe("causal | ");
    expect(withOperator("causal", 6, 6, "!").text).toBe("!causal");
    expect(withOperator("a & b", 5, 5, "!").text).toBe("!(a & b)");
    expect(withOperator("a & b", 4, 5, "!").text).toBe("a & !b");
  });
  it("points at the word that an error means, and knows what was meant", () => {
    const message =
      "column 10: expected a mask (all, …), got `windw`; did you mean `window`?\n  causal & windw(512)\n           ^";
    expect(faultOf("causal & windw(512)", 10, message)).toEqual({
      before: "causal & ",
      bad: "windw",
      after: "(512)",
      says: "expected a mask (all, …), got `windw`; did you mean `window`?",
      meant: "window",
    });
  });
  it("points behind the end where the text ends too early", () => {
    expect(faultOf("causal &", 9, "column 9: expected a mask, got the end of the text")).toMatchObject({
      before: "causal &",
      bad: "",
      after: "",
      meant: null,
    });
  });
  it("proposes masks of models with the engine's lengths", () => {
    const word = (name: string, example: string): MaskWordShown => ({ word: name, form: "", meaning: "", example });
    const patterns = patternsOf([word("window", "window(64)"), word("global", "global(32)")]);
    expect(patterns.find((one) => one.name === "Longformer")?.mask).toBe("window(64) | global(32)");
  });
});

describe("cells of the map", () => {
  it("stand for whole tiles, shared as evenly as they can be", () => {
    expect(spanOf(3, 64, 4096, 64)).toEqual({ first: 192, last: 255, tiles: 1 });
    expect(spanOf(0, 128, 131072, 64)).toEqual({ first: 0, last: 1023, tiles: 16 });
    expect(spanOf(7, 8, 500, 64)).toEqual({ first: 448, last: 499, tiles: 1 }); // the last tile is shorter
    const spans = Array.from({ length: 3 }, (_, cell) => spanOf(cell, 3, 450, 64)); // 8 tiles in 3 cells
    expect(spans.map((span) => span.tiles)).toEqual([2, 3, 3]);
    expect(spans.at(-1)?.last).toBe(449);
  });
  it("are pairs where the map is small, and their tile says what is done", () => {
    const causal = map(
      [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [1, 1, 1, 0],
        [1, 1, 1, 1],
      ],
      { tile_queries: 2, tile_keys: 2 },
    );
    expect(tilesOf(causal).map(({ kind }) => kind)).toEqual(["partial", "skip", "full", "partial"]);
    expect(meaningOf(causal, { row: 2, column: 3 })).toMatchObject({
      share: 0,
      kind: "partial",
      keys: { first: 3, last: 3 },
    });
  });
  it("are found from a query", () => {
    const blocks = map(
      [
        [1, 0],
        [0.5, 1],
      ],
      { tq: 100, tk: 128 },
    );
    expect([0, 63, 64, 99].map((query) => rowOfQuery(blocks, query))).toEqual([0, 0, 1, 1]);
  });
  it("outline partial tiles and mark rows that see nothing", () => {
    const blocks = map(
      [
        [0, 0],
        [0.5, 1],
      ],
      { tq: 128, tk: 128, first_blind: [5, 6], blind_rows: 2 },
    );
    const { marks } = maskPicture(blocks, 400, "light").drawing;
    expect(marks.filter((mark) => mark.kind === "box" && mark.stroke === "ink")).toHaveLength(1);
    expect(marks.filter((mark) => mark.kind === "line" && mark.fill === "#a3241b")).toHaveLength(1); // both in one row of cells
  });
  it("lead to the bench: with the mask where it fits, else with all hidden", () => {
    expect(benchFields(map([[0], [1]]), 0)).toEqual({
      text: "0 1",
      context: "0",
      mask: "causal",
      q: "0",
      wrong: "minus-1e9",
    });
    expect(benchFields(map([[0]], { tq: 512, tk: 640 }), 3)).toEqual({ mask: "none", wrong: "minus-1e9" });
  });
});

describe("a grid", () => {
  const place: GridPlace = { left: 10, top: 20, cellWide: 5, cellTall: 4, rows: 3, columns: 2 };
  it("knows the cell under a point", () => {
    expect(cellUnder(place, 16, 28.5)).toEqual({ row: 2, column: 1 });
    expect(cellUnder(place, 9, 25)).toBeNull();
    expect(cellUnder(place, 16, 33)).toBeNull();
  });
  it("is kept in the address", () => {
    expect(cellFrom("2,1", 3, 2)).toEqual({ row: 2, column: 1 });
    expect(cellFrom("2,2", 3, 2)).toBeNull();
    expect(cellFrom("x", 3, 2)).toBeNull();
  });
  it("is labelled at powers of two", () => {
    expect(ticksOf(4096, 8)).toEqual([0, 512, 1024, 1536, 2048, 2560, 3072, 3584]);
    expect(ticksOf(5, 9)).toEqual([0, 1, 2, 3, 4]);
  });
});

describe("positions", () => {
  it("ask only for what their kind reads", () => {
    expect(positionsRequest(settingsOf({ kind: "alibi", at: "3", head: "99" }))).toEqual({
      kind: "alibi",
      tokens: 64,
      heads: 8,
      head: 7,
    });
    expect(positionsRequest(settingsOf({ d: "7", base: "1" }))).toEqual({
      kind: "sinusoidal",
      tokens: 64,
      d: 8,
      base: 10,
    });
  });
  it("keep T5's numbers where they have a meaning", () => {
    expect(positionsRequest(settingsOf({ kind: "t5", buckets: "33", far: "4" }))).toEqual({
      kind: "t5",
      tokens: 64,
      buckets: 34,
      max_distance: 17,
    });
  });
  it("keep the key before the query", () => {
    expect(settingsOf({ at: "3", before: "9" })).toMatchObject({ at: 3, before: 3 });
    expect(settingsOf({ tokens: "16", at: "99" })).toMatchObject({ at: 15, before: 5 });
  });
  it("show frequencies that move, and the slowest", () => {
    expect(shownPairs([1, 0.5, 0.1, 0.001], 64, 8)).toEqual([0, 1, 2, 3]);
    expect(shownPairs([1, 0.001, 0.0001], 64, 8)).toEqual([0, 2]); // the second one stands as still as the last
    expect(shownPairs(Array<number>(20).fill(1), 64, 6)).toEqual([0, 5, 10, 14, 19]);
    expect(shownPairs([1], 64, 8)).toEqual([0]);
  });
  it("turn the key behind the query, and write the cosine of their difference", () => {
    const reply = {
      frequencies: [Math.PI / 2],
      table: matrix([[1], [0], [-1]]),
      by_distance: matrix([[1, 0, -1]]),
    } as unknown as PositionsReply;
    const { marks } = turnsDrawing(reply, 2, 1, 200);
    const arrows = marks.filter((mark) => mark.kind === "line" && mark.arrow);
    const ends = arrows.map((arrow) =>
      arrow.kind === "line" ? arrow.points.map(([x, y]) => [Math.round(x), Math.round(y)]) : [],
    );
    const [centre] = ends[0]!;
    expect(ends[0]![1]![0]).toBe(centre![0]); // the key at 1: a quarter turn, upright
    expect(ends[0]![1]![1]).toBeLessThan(centre![1]!);
    expect(ends[1]![1]![1]).toBe(centre![1]); // the query at 2: half a turn, to the left
    expect(ends[1]![1]![0]).toBeLessThan(centre![0]!);
    expect(marks.some((mark) => mark.kind === "label" && mark.text === "cos 0.000")).toBe(true);
  });
});

describe("cost", () => {
  it("asks for a preset with what was changed of it", () => {
    expect(costRequest({})).toEqual({ preset: "gpt3", of: "memory" });
    expect(costRequest({ preset: "gpt2", tokens: "64", causal: "0", heads: "many" })).toEqual({
      preset: "gpt2",
      of: "memory",
      tokens: 64,
      causal: false,
    });
  });
  it("forgets the changes with another preset", () => {
    expect(presetChanges("gpt3")).toMatchObject({ preset: null, tokens: null, causal: null });
  });
  it("writes the command that prints the same", () => {
    expect(costCommand({ kv_heads: "8", dtype: "f16", causal: "0" })).toBe(
      "qkv cost gpt3 --kv-heads 8 --no-causal --dtype f16",
    );
  });
  it("writes amounts as the engine does", () => {
    expect(bytes(154618822656)).toBe("144 GiB");
    expect(bytes(1396834074624)).toBe("1.27 TiB");
    expect(bytes(75497472)).toBe("72.0 MiB");
    expect(bytes(16)).toBe("16 B");
    expect(flops(735036189966336)).toBe("735 TFLOP");
    expect(grouped(154618822656)).toBe("154,618,822,656");
    expect(percent(0.1172027)).toBe("11.72 %");
  });
});

describe("the chart of costs", () => {
  it("has ticks at powers", () => {
    expect(powersIn([128, 131072], 4)).toEqual([256, 1024, 4096, 16384, 65536]);
    expect(powersIn([1, 5e8], 1024)).toEqual([1, 1024, 1048576]);
    expect(powersIn([5, 6], 4)).toEqual([]);
  });
  it("goes to the point that is nearest as the axis measures it", () => {
    expect(nearest([1, 10, 100], 40, true)).toBe(2);
    expect(nearest([1, 10, 100], 40, false)).toBe(1);
  });
});

describe("csv", () => {
  it("has every digit and quotes what needs it", () => {
    expect(
      csvOf(
        matrix([
          [0.5, 1],
          [0, 0.25],
        ]),
      ),
    ).toBe("0.5,1\r\n0,0.25\r\n");
    expect(quoted('a "b", c')).toBe('"a ""b"", c"');
  });
});
