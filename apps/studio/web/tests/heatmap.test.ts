import { describe, expect, it } from "vitest";
import { blockMaxima, blockNote, cellAt, columnLeft, heatmapLayout, rowTop, shortened } from "../src/drawing/heatmap_layout";
import { cellPixels, heatmapDrawing, heatmapMarks, wholeWindow, type HeatmapData } from "../src/drawing/heatmap_marks";
import type { Mark } from "../src/drawing/marks";
import { nextShade, shadeOf, shadings } from "../src/parts/shade";
import { placeAfter } from "../src/parts/one_cell";
import { mapAt, mapPlace, headMapsLayout } from "../src/parts/head_maps_layout";

const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`);
const frame = (rows: number, columns: number) => ({
  rows: words(rows),
  columns: words(columns),
  columnCount: columns,
  decimals: 3,
  sumsOfRows: true,
  sumsOfColumns: true,
});
const layoutOf = (rows: number, columns: number, zoom = 1) => heatmapLayout(frame(rows, columns), 800, 700, zoom);

describe("the layout of a matrix", () => {
  it("shows numbers in large cells, colours in small ones, several numbers in the smallest", () => {
    const at = (count: number) => layoutOf(count, count);
    expect(at(8).decimals).toBe(3);
    expect(at(20).decimals).toBe(2);
    expect(at(30).decimals).toBeNull();
    expect(at(30).rowStep).toBe(1);
    expect(at(100).rowStep).toBeGreaterThan(1);
    expect(at(100).block).toBe(1);
    expect(at(1024)).toMatchObject({ wide: 2, tall: 2, block: 4, rowsTicked: true, columnsTicked: true });
    expect(blockNote(at(1024))).toBe("One cell is 4 × 4 numbers, and shows the largest.");
    expect(blockNote(at(100))).toBe("");
  });

  it("fits what it is given, and grows with the zoom", () => {
    const layout = layoutOf(50, 50);
    expect(layout.width).toBeLessThanOrEqual(800);
    expect(layout.height).toBeLessThanOrEqual(700);
    expect(layoutOf(50, 50, 3).wide).toBeGreaterThan(2.5 * layout.wide);
    expect(layoutOf(1024, 1024, 32).block).toBe(1);
  });

  it("gives few rows the height of a label, and strips theirs", () => {
    expect(layoutOf(1, 120)).toMatchObject({ tall: 14, block: 1 });
    const wide = layoutOf(7, 1500);
    expect(wide).toMatchObject({ tall: 14, wide: 2, rowBlock: 1, rowStep: 1, rowsTicked: false });
    expect(blockNote(wide)).toBe(`One cell is 1 × ${wide.block} numbers, and shows the largest.`);
    expect(cellAt(wide, wide.left + 3, rowTop(wide, 6) + 1)).toEqual({ row: 6, column: wide.block });
    const strips = heatmapLayout({ ...frame(8, 64), columns: [], rowTall: 16, sumsOfRows: false, sumsOfColumns: false }, 330);
    expect(strips).toMatchObject({ tall: 16, rowStep: 1, columnStep: 0, rowsTicked: false });
    expect(strips.width).toBeLessThanOrEqual(330);
  });

  it("finds the cell under a point", () => {
    const layout = layoutOf(9, 5);
    expect(cellAt(layout, columnLeft(layout, 4) + 1, rowTop(layout, 8) + 1)).toEqual({ row: 8, column: 4 });
    expect(cellAt(layout, columnLeft(layout, 5) + 1, rowTop(layout, 8) + 1)).toBeNull();
    expect(cellAt(layout, 1, 1)).toBeNull();
    const blocks = layoutOf(1024, 1024);
    expect(cellAt(blocks, blocks.left + 5, blocks.top + 3)).toEqual({ row: 4, column: 8 });
  });

  it("shortens long labels", () => {
    expect(shortened("short")).toBe("short");
    expect([...shortened("a".repeat(40))]).toHaveLength(16);
  });
});

describe("the picture of a matrix", () => {
  const data: HeatmapData = {
    rows: ["a", "b"],
    columns: ["a", "b"],
    values: Float32Array.of(1, 0, 0.25, NaN),
    hidden: Uint8Array.of(0, 1, 0, 0),
    decimals: 3,
    scale: shadings.plain.scale,
    rowTotals: [1, 0.25],
    name: "weights",
    firstRow: 4,
  };
  const layout = heatmapLayout({ ...frame(2, 2), rows: data.rows, columns: data.columns, sumsOfColumns: false, largest: 44 }, 400);
  const texts = (marks: readonly Mark[]) => marks.flatMap((mark) => (mark.kind === "label" ? [mark.text] : []));
  const named = (marks: readonly Mark[]) => marks.filter((mark) => mark.kind === "box" && mark.name).map((mark) => mark.name);

  it("writes what is seen, hatches what is hidden, crosses what is no number, and says the sums", () => {
    const marks = heatmapDrawing(data, layout, "light");
    expect(texts(marks)).toEqual(["1.000", "0.250", "Σ 1.000", "Σ 0.250", "a", "b", "a", "b"]);
    expect(named(marks)).toEqual(["weights:4,0", "weights:5,0", "weights:5,1"]);
    const lines = (of: readonly Mark[]) => of.filter((mark) => mark.kind === "line").length;
    expect(lines(marks) - lines(heatmapDrawing({ ...data, hidden: null, values: [1, 0, 0.25, 0] }, layout, "light"))).toBeGreaterThan(4);
  });

  it("strikes what is cut, frames a row, and parts two texts", () => {
    const count = (more: Partial<HeatmapData>) => heatmapDrawing({ ...data, ...more }, layout, "light").length;
    const plain = count({});
    expect(count({ struck: [{ row: 1, column: 0 }] }) - plain).toBe(4);
    expect(count({ framedRow: 1 }) - plain).toBe(1);
    expect(count({ second: { row: 1, column: 1 } }) - plain).toBe(2);
  });

  it("fades what is below the least", () => {
    const faint = heatmapDrawing({ ...data, least: 0.5 }, layout, "light").filter((mark) => mark.kind === "box" && mark.opacity);
    expect(faint.map((mark) => mark.name)).toEqual(["weights:5,0"]);
  });

  it("draws many cells as one picture, of which hidden ones are left out, and numbers of those in view alone", () => {
    const n = 100;
    const many: HeatmapData = { ...data, rows: words(n), columns: words(n), values: new Float32Array(n * n).fill(0.5), hidden: new Uint8Array(n * n) };
    many.hidden = Uint8Array.from({ length: n * n }, (_, at) => Number(at % n > Math.floor(at / n)));
    const large = layoutOf(n, n, 32);
    const pixels = cellPixels(many, large, "dark")!;
    expect([pixels.columns, pixels.rows]).toEqual([n, n]);
    expect([pixels.bytes[3], pixels.bytes[4 + 3]]).toEqual([255, 0]);
    const window = { top: 10, left: 0, bottom: 12, right: 5 };
    const numbers = texts(heatmapMarks(many, large, pixels, window, "dark").cells).filter((text) => text === "0.500");
    expect(numbers).toHaveLength(10);
    expect(cellPixels(data, layout, "dark")).toBeNull();
    expect(wholeWindow(large)).toEqual({ top: 0, left: 0, bottom: n, right: n });
  });
});

describe("scales of weights", () => {
  it("are gone through by clicks, and the usual one is not in the address", () => {
    expect(shadeOf({})).toBe("plain");
    expect(shadeOf({ shade: "uniform" })).toBe("uniform");
    expect(nextShade("plain")).toEqual({ shade: "log" });
    expect(nextShade("uniform")).toEqual({ shade: null });
    expect(nextShade("log")).toEqual({ shade: "uniform" });
  });
});

describe("blocks", () => {
  it("hold the largest value, and are hidden where all of it is", () => {
    const values = Float32Array.of(1, 2, 0, 4, 3, 0, 0, 0, 9);
    const hidden = Uint8Array.of(0, 0, 1, 0, 0, 1, 0, 0, 0);
    const { down, across, largest, hidden: all } = blockMaxima(values, hidden, { rows: 3, columns: 3 }, 2);
    expect([down, across]).toEqual([2, 2]);
    expect([...largest]).toEqual([4, -Infinity, 0, 9]);
    expect([...all]).toEqual([0, 1, 0, 0]);
  });
});

describe("arrow keys", () => {
  it("stay inside the matrix", () => {
    expect(placeAfter("ArrowUp", { row: 0, column: 1 }, 3, 3)).toEqual({ row: 0, column: 1 });
    expect(placeAfter("ArrowRight", { row: 0, column: 1 }, 3, 3)).toEqual({ row: 0, column: 2 });
    expect(placeAfter("End", { row: 2, column: 0 }, 3, 3)).toEqual({ row: 2, column: 2 });
    expect(placeAfter("a", { row: 2, column: 0 }, 3, 3)).toBeNull();
  });
});

describe("all heads", () => {
  it("lie in a row for each layer, and one layer in several rows", () => {
    const all = headMapsLayout(6, 12, 12, 12, 400, 72);
    expect([all.rows, all.columns]).toEqual([6, 12]);
    expect(all.width).toBeLessThanOrEqual(400);
    const one = headMapsLayout(1, 12, 12, 12, 400, 200);
    expect([one.rows, one.columns]).toEqual([3, 4]);
    expect(one.mapWidth).toBeGreaterThan(2 * all.mapWidth);
  });

  it("are found under a point", () => {
    const layout = headMapsLayout(4, 8, 20, 20, 360, 72);
    for (const n of [0, 7, 8, 31]) {
      const { x, y } = mapPlace(layout, n);
      expect(mapAt(layout, 32, x + 2, y + 2)).toBe(n);
    }
    expect(mapAt(layout, 32, 3, 3)).toBeNull();
  });
});
