// Where the small maps of all heads lie: a row for each layer and a column for each head, or those of one layer in as
// many rows as they need.

export interface HeadMapsLayout {
  columns: number;
  rows: number;
  mapWidth: number;
  mapHeight: number;
  gap: number;
  left: number; // for the layers' numbers
  top: number; // for the heads' numbers
  width: number;
  height: number;
  /** One layer in several rows: each map has its own number. */
  wrapped: boolean;
}

const smallestMap = 16;

/** Maps of `mapRows` × `mapColumns` cells for `layers` × `heads` heads, in `width` pixels. */
export function headMapsLayout(layers: number, heads: number, mapRows: number, mapColumns: number, width: number, largestMap: number): HeadMapsLayout {
  const wrapped = layers === 1 && heads > 4;
  const columns = wrapped ? Math.ceil(heads / Math.ceil(heads / 4)) : heads;
  const rows = wrapped ? Math.ceil(heads / columns) : layers;
  const gap = columns > 12 ? 3 : 5;
  const left = wrapped ? 0 : 26;
  const top = wrapped ? 0 : 20;
  const numbered = wrapped ? 18 : 0;
  const mapWidth = Math.min(Math.max((width - left) / columns - gap, smallestMap), largestMap);
  const shape = Math.min(Math.max(mapRows / mapColumns, 0.4), 2.5);
  const mapHeight = Math.min(mapWidth * shape, largestMap * 1.5);
  return {
    columns,
    rows,
    mapWidth,
    mapHeight,
    gap,
    left,
    top: top + numbered,
    width: left + columns * (mapWidth + gap),
    height: top + rows * (mapHeight + gap + numbered),
    wrapped,
  };
}

function pitch({ mapHeight, gap, wrapped }: HeadMapsLayout): number {
  return mapHeight + gap + (wrapped ? 18 : 0);
}

/** The upper left corner of the map of the `n`th head. */
export function mapPlace(layout: HeadMapsLayout, n: number): { x: number; y: number } {
  const row = Math.floor(n / layout.columns);
  const column = n % layout.columns;
  return { x: layout.left + column * (layout.mapWidth + layout.gap), y: layout.top + row * pitch(layout) };
}

/** The head under a point, of `count`; null beside the maps. */
export function mapAt(layout: HeadMapsLayout, count: number, x: number, y: number): number | null {
  const column = Math.floor((x - layout.left) / (layout.mapWidth + layout.gap));
  const row = Math.floor((y - layout.top) / pitch(layout));
  const n = row * layout.columns + column;
  return x >= layout.left && y >= layout.top && column < layout.columns && n < count ? n : null;
}
