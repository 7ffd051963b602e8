import { describe, expect, it } from "vitest";
import { blockMaxima, columnLeft, weightLayout, pairAt, rowTop, shortened } from "../src/parts/weight_layout";
import { placeAfter } from "../src/parts/one_cell";
import { mapAt, mapPlace, headMapsLayout } from "../src/parts/head_maps_layout";

const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`);

describe("the layout of a matrix", () => {
  it("shows numbers in large cells, colours in small ones, several weights in the smallest", () => {
    const at = (count: number) => weightLayout(words(count), words(count), 3, 800, 700, 1);
    expect(at(8).decimals).toBe(3);
    expect(at(20).decimals).toBe(2);
    expect(at(30).decimals).toBeNull();
    expect(at(30).rowStep).toBe(1);
    expect(at(100).rowStep).toBeGreaterThan(1);
    expect(at(100).block).toBe(1);
    expect(at(1024)).toMatchObject({ cell: 2, block: 4 });
  });

  it("fits what it is given, and grows with the zoom", () => {
    const layout = weightLayout(words(50), words(50), 3, 800, 700, 1);
    expect(layout.width).toBeLessThanOrEqual(800);
    expect(layout.height).toBeLessThanOrEqual(700);
    expect(weightLayout(words(50), words(50), 3, 800, 700, 3).cell).toBeGreaterThan(2.5 * layout.cell);
    expect(weightLayout(words(1024), words(1024), 3, 800, 700, 32).block).toBe(1);
  });

  it("finds the pair under a point", () => {
    const layout = weightLayout(words(9), words(5), 3, 800, 700, 1);
    expect(pairAt(layout, columnLeft(layout, 4) + 1, rowTop(layout, 8) + 1)).toEqual({ row: 8, column: 4 });
    expect(pairAt(layout, columnLeft(layout, 5) + 1, rowTop(layout, 8) + 1)).toBeNull();
    expect(pairAt(layout, 1, 1)).toBeNull();
    const blocks = weightLayout(words(1024), words(1024), 3, 800, 700, 1);
    expect(pairAt(blocks, blocks.left + 5, blocks.top + 3)).toEqual({ row: 4, column: 8 });
  });

  it("shortens long labels", () => {
    expect(shortened("short")).toBe("short");
    expect([...shortened("a".repeat(40))]).toHaveLength(16);
  });
});

describe("blocks", () => {
  it("hold the largest value, and are hidden where all of it is", () => {
    const values = Float32Array.of(1, 2, 0, 4, 3, 0, 0, 0, 9);
    const hidden = Uint8Array.of(0, 0, 1, 0, 0, 1, 0, 0, 0);
    const { down, across, largest, hidden: all } = blockMaxima(values, hidden, { rows: 3, columns: 3 }, 2);
    expect([down, across]).toEqual([2, 2]);
    expect([...largest]).toEqual([4, 0, 0, 9]);
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
