import { describe, expect, it } from "vitest";
import { areaOf, LeastRecent, levelAt, parentOf, pieceFor, seenArea, tileName, TileQueue, tilesSeen, type TileAt } from "../src/drawing/tiles";

const extent = { queries: 131072, keys: 131072 };
const levels = 10;
const tile = (level: number, row: number, column: number): TileAt => ({ level, row, column, every: 1 });

describe("levels and areas", () => {
  it("cells are at least a pixel, and less than two", () => {
    for (const scale of [0.004, 0.0049, 0.01, 0.3, 0.5, 0.51, 0.99, 1]) {
      const pixels = 2 ** levelAt(scale, 40) * scale;
      expect(pixels).toBeGreaterThanOrEqual(1);
      expect(pixels).toBeLessThan(2);
    }
    expect(levelAt(20, levels)).toBe(0);
    expect(levelAt(1e-9, levels)).toBe(9);
  });

  it("a tile ends where the matrix does", () => {
    expect(areaOf(tile(0, 2, 1), { queries: 600, keys: 400 })).toEqual({ fromQuery: 512, toQuery: 600, fromKey: 256, toKey: 400 });
  });

  it("only the part within the matrix is seen", () => {
    expect(seenArea({ scale: 1, query: -50, key: 100 }, { width: 200, height: 100 }, { queries: 30, keys: 250 })).toEqual({
      fromQuery: 0,
      toQuery: 30,
      fromKey: 100,
      toKey: 250,
    });
  });
});

describe("what a view shows", () => {
  it("covers the view with the fewest tiles, the nearest to the pointer first", () => {
    const view = { scale: 1, query: 1000, key: 2000 };
    const seen = tilesSeen(view, { width: 600, height: 300 }, extent, 0, { query: 1290, key: 2590 });
    expect(seen.map(tileName).sort()).toEqual(["0/3/10/1", "0/3/7/1", "0/3/8/1", "0/3/9/1", "0/4/10/1", "0/4/7/1", "0/4/8/1", "0/4/9/1", "0/5/10/1", "0/5/7/1", "0/5/8/1", "0/5/9/1"]);
    expect(tileName(seen[0]!)).toBe("0/5/10/1");
    expect(tileName(seen.at(-1)!)).toBe("0/3/7/1");
  });

  it("has no tile outside of the matrix", () => {
    expect(tilesSeen({ scale: 1, query: -400, key: -400 }, { width: 300, height: 300 }, extent, 0, { query: 0, key: 0 })).toEqual([]);
  });
});

describe("parents stand in for children", () => {
  const held = (names: string[]) => (one: TileAt) => (names.includes(tileName(one)) ? tileName(one) : undefined);

  it("takes the tile itself, else the nearest parent, and the part of it that lies there", () => {
    const child = tile(2, 97, 97);
    expect(pieceFor(child, extent, levels, held(["2/97/97/1", "3/48/48/1"]))).toMatchObject({ held: "2/97/97/1", left: 0, top: 0, width: 256, height: 256 });
    const half = pieceFor(child, extent, levels, held(["3/48/48/1", "9/0/0/1"]));
    expect(half).toMatchObject({ held: "3/48/48/1", left: 128, top: 128, width: 128, height: 128 });
    expect(half?.area).toEqual(areaOf(child, extent));
    const far = pieceFor(child, extent, levels, held(["9/0/0/1"]))!;
    expect(far.width).toBe(2);
    expect(far.left).toBeCloseTo((97 * 1024) / 512);
  });

  it("paints nothing where nothing is held", () => {
    expect(pieceFor(tile(2, 97, 97), extent, levels, held(["2/96/97/1", "3/49/48/1"]))).toBeNull();
  });

  it("knows the parent some levels up", () => {
    expect(parentOf(tile(2, 97, 13), 3)).toEqual(tile(5, 12, 1));
  });
});

describe("the cache", () => {
  it("drops what was used longest ago, by bytes", () => {
    const cache = new LeastRecent<string>(100);
    cache.put("a", "a", 40);
    cache.put("b", "b", 40);
    expect(cache.get("a")).toBe("a");
    cache.put("c", "c", 40);
    expect([cache.has("a"), cache.has("b"), cache.has("c")]).toEqual([true, false, true]);
    expect(cache.bytes).toBe(80);
  });

  it("keeps what is larger than all of it, alone, and counts a replaced one once", () => {
    const cache = new LeastRecent<string>(100);
    cache.put("a", "a", 40);
    cache.put("large", "large", 400);
    expect([cache.has("a"), cache.has("large")]).toEqual([false, true]);
    cache.put("large", "small", 4);
    expect(cache.bytes).toBe(4);
  });
});

/** A source whose tiles come when the test says so. */
function slowSource() {
  const asked: { name: string; signal: AbortSignal; come: (value: string) => Promise<void>; fail: (error: unknown) => Promise<void> }[] = [];
  const settle = () => new Promise<void>((resolve) => setTimeout(resolve));
  let changes = 0;
  return {
    asked,
    names: () => asked.map(({ name }) => name),
    of: (name: string) => asked.filter((one) => one.name === name).at(-1)!,
    changes: () => changes,
    source: {
      load: (one: TileAt, signal: AbortSignal) =>
        new Promise<string>((resolve, reject) => {
          asked.push({
            name: tileName(one),
            signal,
            come: (value) => (resolve(value), settle()),
            fail: (error) => (reject(error as Error), settle()),
          });
        }),
      bytes: () => 1,
      changed: () => void (changes += 1),
    },
  };
}

const row = (count: number, from = 0) => Array.from({ length: count }, (_, n) => tile(0, 0, from + n));

describe("the queue", () => {
  it("has four on their way, in the order in which they are wanted", async () => {
    const slow = slowSource();
    const queue = new TileQueue(slow.source);
    queue.want(row(6).reverse());
    expect(slow.names()).toEqual(["0/0/5/1", "0/0/4/1", "0/0/3/1", "0/0/2/1"]);
    await slow.of("0/0/3/1").come("three");
    expect(slow.names().at(-1)).toBe("0/0/1/1");
    expect(queue.inFlight).toBe(4);
    expect(queue.get(tile(0, 0, 3))).toBe("three");
    expect(queue.settled).toBe(false);
  });

  it("gives up what is out of view and keeps what stays", () => {
    const slow = slowSource();
    const queue = new TileQueue(slow.source);
    queue.want(row(4));
    queue.want(row(4, 2));
    expect(slow.asked.map(({ signal }) => signal.aborted)).toEqual([true, true, false, false, false, false]);
    expect(slow.names().slice(4)).toEqual(["0/0/4/1", "0/0/5/1"]);
  });

  it("never holds a late answer to what was given up", async () => {
    const slow = slowSource();
    const queue = new TileQueue(slow.source);
    queue.want([tile(0, 0, 0)]);
    const stale = slow.of("0/0/0/1");
    queue.want([tile(0, 0, 9)]);
    await stale.come("stale");
    expect(queue.get(tile(0, 0, 0))).toBeUndefined();
    expect(slow.changes()).toBe(0);
    queue.want([tile(0, 0, 0)]);
    await slow.of("0/0/0/1").come("fresh");
    expect(queue.get(tile(0, 0, 0))).toBe("fresh");
  });

  it("is silent once it is closed: another matrix is looked at", async () => {
    const slow = slowSource();
    const queue = new TileQueue(slow.source);
    queue.want([tile(0, 0, 0)]);
    queue.close();
    await slow.of("0/0/0/1").come("of the matrix before");
    queue.want([tile(0, 0, 1)]);
    expect(queue.get(tile(0, 0, 0))).toBeUndefined();
    expect(slow.asked).toHaveLength(1);
  });

  it("does not ask again for what failed, until it is told or looks again", async () => {
    const slow = slowSource();
    const queue = new TileQueue(slow.source);
    queue.want([tile(0, 0, 0)]);
    await slow.of("0/0/0/1").fail(new Error("no"));
    queue.want([tile(0, 0, 0)]);
    expect(slow.asked).toHaveLength(1);
    expect(queue.error).toEqual(new Error("no"));
    expect(queue.settled).toBe(true);
    queue.retry();
    expect(slow.asked).toHaveLength(2);
    await slow.of("0/0/0/1").come("yes");
    expect(queue.error).toBeNull();
  });

  it("asks for nothing twice", async () => {
    const slow = slowSource();
    const queue = new TileQueue(slow.source);
    queue.want(row(2));
    queue.want(row(2));
    await slow.of("0/0/0/1").come("here");
    queue.want(row(2));
    expect(slow.names()).toEqual(["0/0/0/1", "0/0/1/1"]);
  });
});
