// Where the cells of a drawn grid lie.

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
