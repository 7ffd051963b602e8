// The tiles of a matrix that is too large to be stored: which of them a view shows, and at which level; what stands in for
// one that is not here yet; and the queue that brings them, the nearest to the pointer first.

/** The side of a tile, in cells. A cell of level n stands for 2^n queries and keys. */
export const tileCells = 256;

export interface Extent {
  queries: number;
  keys: number;
}

/** What is seen: pixels of a pair, and the place at the upper left corner, in queries and keys. */
export interface View {
  scale: number;
  query: number;
  key: number;
}

export interface Size {
  width: number;
  height: number;
}

export interface TileAt {
  level: number;
  row: number;
  column: number;
  /** More than 1: an estimate from every n-th query. */
  every: number;
}

export interface Spot {
  query: number;
  key: number;
}

/** Half-open, in queries and keys. */
export interface Area {
  fromQuery: number;
  toQuery: number;
  fromKey: number;
  toKey: number;
}

export function tileName({ level, row, column, every }: TileAt): string {
  return `${level}/${row}/${column}/${every}`;
}

/** The level whose cells are at least a pixel large, and less than two. */
export function levelAt(scale: number, levels: number): number {
  const level = Math.ceil(-Math.log2(scale) - 1e-9);
  return Math.min(Math.max(level, 0), levels - 1);
}

export function cellSide(level: number): number {
  return 2 ** level; // levels pass 31
}

export function areaOf({ level, row, column }: TileAt, extent: Extent): Area {
  const side = tileCells * cellSide(level);
  return {
    fromQuery: row * side,
    toQuery: Math.min((row + 1) * side, extent.queries),
    fromKey: column * side,
    toKey: Math.min((column + 1) * side, extent.keys),
  };
}

/** The part of the matrix within the view. */
export function seenArea(view: View, { width, height }: Size, extent: Extent): Area {
  const within = (at: number, most: number) => Math.min(Math.max(at, 0), most);
  return {
    fromQuery: within(view.query, extent.queries),
    toQuery: within(view.query + height / view.scale, extent.queries),
    fromKey: within(view.key, extent.keys),
    toKey: within(view.key + width / view.scale, extent.keys),
  };
}

/** The tiles of a level that are within the view, those nearest to `focus` first. */
export function tilesSeen(view: View, size: Size, extent: Extent, level: number, focus: Spot): TileAt[] {
  const side = tileCells * cellSide(level);
  const { fromQuery, toQuery, fromKey, toKey } = seenArea(view, size, extent);
  const seen: { tile: TileAt; distance: number }[] = [];
  for (let row = Math.floor(fromQuery / side); row * side < toQuery; ++row) {
    for (let column = Math.floor(fromKey / side); column * side < toKey; ++column) {
      const away = (at: number, from: number) => Math.max(from - at, 0, at - from - side);
      const distance = Math.hypot(away(focus.query, row * side), away(focus.key, column * side));
      seen.push({ tile: { level, row, column, every: 1 }, distance });
    }
  }
  seen.sort((a, b) => a.distance - b.distance);
  return seen.map(({ tile }) => tile);
}

/** The tile `up` levels further that holds this one. */
export function parentOf({ level, row, column }: TileAt, up = 1): TileAt {
  const side = 2 ** up;
  return { level: level + up, row: Math.floor(row / side), column: Math.floor(column / side), every: 1 };
}

/** What is painted where: a rectangle of a held tile's cells, at an area of the matrix. */
export interface Piece<T> {
  held: T;
  from: TileAt;
  area: Area;
  /** In cells of `from`. */
  left: number;
  top: number;
  width: number;
  height: number;
}

/** A tile, or the nearest of its parents that is held: that part of it. */
export function pieceFor<T>(tile: TileAt, extent: Extent, levels: number, held: (tile: TileAt) => T | undefined): Piece<T> | null {
  const area = areaOf(tile, extent);
  for (let up = 0; tile.level + up < levels; ++up) {
    const from = up === 0 ? tile : parentOf(tile, up);
    const one = held(from);
    if (one === undefined) continue;
    const origin = areaOf(from, extent);
    const side = cellSide(from.level);
    return {
      held: one,
      from,
      area,
      left: (area.fromKey - origin.fromKey) / side,
      top: (area.fromQuery - origin.fromQuery) / side,
      width: (area.toKey - area.fromKey) / side,
      height: (area.toQuery - area.fromQuery) / side,
    };
  }
  return null;
}

/** What was used last stays, up to so many bytes. */
export class LeastRecent<T> {
  private readonly kept = new Map<string, { value: T; bytes: number }>(); // in the order of use
  private held = 0;

  constructor(private readonly most: number) {}

  get bytes(): number {
    return this.held;
  }

  get(name: string): T | undefined {
    const found = this.kept.get(name);
    if (!found) return undefined;
    this.kept.delete(name);
    this.kept.set(name, found);
    return found.value;
  }

  has(name: string): boolean {
    return this.kept.has(name);
  }

  put(name: string, value: T, bytes: number): void {
    this.held += bytes - (this.kept.get(name)?.bytes ?? 0);
    this.kept.delete(name);
    this.kept.set(name, { value, bytes });
    for (const [oldest, one] of this.kept) {
      if (this.held <= this.most || oldest === name) break;
      this.kept.delete(oldest);
      this.held -= one.bytes;
    }
  }
}

export interface TileSource<T> {
  load(tile: TileAt, signal: AbortSignal): Promise<T>;
  bytes(value: T): number;
  /** Something came, or could not. */
  changed(): void;
}

export const atOnce = 4;
export const mostBytes = 64 * 1024 * 1024;

/** Brings the tiles that are wanted, in their order; those that are wanted no more are given up. */
export class TileQueue<T> {
  private readonly cache: LeastRecent<T>;
  private readonly running = new Map<string, AbortController>();
  private readonly failed = new Map<string, unknown>();
  private wanted: readonly TileAt[] = [];
  private closed = false;

  constructor(
    private readonly source: TileSource<T>,
    private readonly most = atOnce,
    bytes = mostBytes,
  ) {
    this.cache = new LeastRecent(bytes);
  }

  get(tile: TileAt): T | undefined {
    return this.cache.get(tileName(tile));
  }

  has(tile: TileAt): boolean {
    return this.cache.has(tileName(tile));
  }

  get inFlight(): number {
    return this.running.size;
  }

  /** True once all that is wanted is here or has failed. */
  get settled(): boolean {
    return this.wanted.every((tile) => this.has(tile) || this.failed.has(tileName(tile)));
  }

  /** The first error of a wanted tile; null for none. */
  get error(): unknown {
    for (const tile of this.wanted) {
      const error = this.failed.get(tileName(tile));
      if (error !== undefined) return error;
    }
    return null;
  }

  want(tiles: readonly TileAt[]): void {
    if (this.closed) return;
    this.wanted = tiles;
    const names = new Set(tiles.map(tileName));
    for (const [name, abort] of this.running) {
      if (names.has(name)) continue;
      this.running.delete(name);
      abort.abort();
    }
    for (const name of this.failed.keys()) if (!names.has(name)) this.failed.delete(name);
    this.start();
  }

  /** Asks once more for what failed. */
  retry(): void {
    this.failed.clear();
    this.start();
  }

  close(): void {
    this.want([]);
    this.closed = true;
  }

  private start(): void {
    for (const tile of this.wanted) {
      if (this.running.size >= this.most) return;
      const name = tileName(tile);
      if (!this.cache.has(name) && !this.running.has(name) && !this.failed.has(name)) void this.bring(tile, name);
    }
  }

  private async bring(tile: TileAt, name: string): Promise<void> {
    const abort = new AbortController();
    this.running.set(name, abort);
    try {
      const value = await this.source.load(tile, abort.signal);
      if (abort.signal.aborted) return; // a late answer to what nobody waits for
      this.cache.put(name, value, this.source.bytes(value));
    } catch (error) {
      if (abort.signal.aborted) return;
      this.failed.set(name, error);
    }
    this.running.delete(name);
    this.source.changed();
    this.start();
  }
}
