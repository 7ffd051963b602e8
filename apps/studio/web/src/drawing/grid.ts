// Where the cells of a drawn grid lie, and how one goes from one to the other.

export interface Cell {
  row: number;
  column: number;
}

export interface GridPlace {
  left: number;
  top: number;
  cellWide: number;
  cellTall: number;
  rows: number;
  columns: number;
}

/** A block of cells, up to but without row `bottom` and column `right`. Its edges are whole pixels: neighbours leave no
 * seam. */
export function blockOf(place: GridPlace, top: number, left: number, bottom: number, right: number) {
  const [x, y] = [Math.round(place.left + left * place.cellWide), Math.round(place.top + top * place.cellTall)];
  const width = Math.round(place.left + right * place.cellWide) - x;
  return { kind: "box" as const, x, y, width, height: Math.round(place.top + bottom * place.cellTall) - y };
}

export function cellUnder(place: GridPlace, x: number, y: number): Cell | null {
  const row = Math.floor((y - place.top) / place.cellTall);
  const column = Math.floor((x - place.left) / place.cellWide);
  return row >= 0 && row < place.rows && column >= 0 && column < place.columns ? { row, column } : null;
}

/** Where a key leads from a cell; null for a key that leads nowhere. The first arrow goes to the first cell. */
export function cellAfter(key: string, from: Cell | null, { rows, columns }: GridPlace): Cell | null {
  const { row, column } = from ?? { row: 0, column: 0 };
  const page = Math.max(Math.round(rows / 8), 1);
  const targets: Record<string, Cell> = {
    ArrowLeft: { row, column: column - 1 },
    ArrowRight: { row, column: column + 1 },
    ArrowUp: { row: row - 1, column },
    ArrowDown: { row: row + 1, column },
    Home: { row, column: 0 },
    End: { row, column: columns - 1 },
    PageUp: { row: row - page, column },
    PageDown: { row: row + page, column },
  };
  const to = targets[key];
  if (!to) return null;
  if (!from) return { row: 0, column: 0 };
  return { row: clamp(to.row, rows), column: clamp(to.column, columns) };
}

function clamp(at: number, count: number): number {
  return Math.min(Math.max(at, 0), count - 1);
}

/** "12,3" as an address writes a cell; null where it lies outside. */
export function cellFrom(text: string | undefined, rows: number, columns: number): Cell | null {
  const [, row, column] = /^(\d{1,6}),(\d{1,6})$/.exec(text ?? "") ?? [];
  const cell = { row: Number(row), column: Number(column) };
  return row !== undefined && cell.row < rows && cell.column < columns ? cell : null;
}

export function cellText(cell: Cell | null): string | null {
  return cell ? `${cell.row},${cell.column}` : null;
}

/** Positions for at most `most` labels of 0 to n - 1: multiples of a power of two. */
export function ticksOf(n: number, most: number): number[] {
  let step = 1;
  while (n / step > most) step *= 2;
  return Array.from({ length: Math.ceil(n / step) }, (_, i) => i * step);
}
