// Matrices as the address writes them: "1,0;0,1;1,1", rows by ";", numbers by ",". They stay as written.

export function readMatrix(text: string): string[][] {
  return text === "" ? [] : text.split(";").map((row) => row.split(","));
}

export function writeMatrix(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.join(",")).join(";");
}

export function withCell(text: string, row: number, column: number, value: string): string {
  return writeMatrix(
    readMatrix(text).map((cells, r) => cells.map((cell, c) => (r === row && c === column ? value : cell))),
  );
}

export function withoutRow(text: string, row: number): string {
  return writeMatrix(readMatrix(text).filter((_, r) => r !== row));
}

/** With rows of `pattern` (as wide as the matrix, or zeros) added or rows taken away at the end. */
export function withRows(text: string, count: number, pattern: string): string {
  const rows = readMatrix(text).slice(0, count);
  const samples = readMatrix(pattern);
  const width = rows[0]?.length ?? samples[0]?.length ?? 1;
  while (rows.length < count) {
    const sample = samples[rows.length % Math.max(samples.length, 1)] ?? [];
    rows.push(Array.from({ length: width }, (_, c) => sample[c] ?? "0"));
  }
  return writeMatrix(rows);
}

export function identity(size: number): string {
  return writeMatrix(
    Array.from({ length: size }, (_, r) => Array.from({ length: size }, (_, c) => (r === c ? "1" : "0"))),
  );
}

/** As Python and `qkv explain` write it: "[[1,0],[0,1]]". */
export function bracketed(text: string): string {
  return `[${readMatrix(text)
    .map((row) => `[${row.join(",")}]`)
    .join(",")}]`;
}
