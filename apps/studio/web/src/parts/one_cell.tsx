// A matrix that is a picture is one tab stop. To who listens it is a grid of which one cell at a time is there: the one
// the arrow keys have reached.

export interface Place {
  row: number;
  column: number;
}

export interface OneCellProps {
  id: string;
  rows: number;
  columns: number;
  at: Place;
  text: string;
}

export function OneCell({ id, rows, columns, at, text }: OneCellProps) {
  const row = Math.min(at.row, rows - 1);
  const column = Math.min(at.column, columns - 1);
  return (
    <div role="row" aria-rowindex={row + 1} class="said">
      <div role="gridcell" aria-colindex={column + 1} id={cellId(id, { row, column })} key={`${row},${column}`} aria-selected="true">
        {text}
      </div>
    </div>
  );
}

export function cellId(id: string, { row, column }: Place): string {
  return `${id}-${row}-${column}`;
}

/** Where a key leads; null for a key that leads nowhere. */
export function placeAfter(key: string, { row, column }: Place, rows: number, columns: number, page = 10): Place | null {
  const to: Record<string, readonly [number, number]> = {
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    PageUp: [row - page, column],
    PageDown: [row + page, column],
    Home: [row, 0],
    End: [row, columns - 1],
  };
  const [nextRow, nextColumn] = to[key] ?? [null, null];
  if (nextRow === null || nextColumn === null) return null;
  return { row: clamp(nextRow, rows), column: clamp(nextColumn, columns) };
}

function clamp(at: number, count: number): number {
  return Math.min(Math.max(at, 0), count - 1);
}
