import { describe, expect, it } from "vitest";
import { npyOf } from "../src/drawing/npy";

function read(bytes: Uint8Array): { header: string; start: number } {
  const length = new DataView(bytes.buffer).getUint16(8, true);
  return { header: new TextDecoder().decode(bytes.slice(10, 10 + length)), start: 10 + length };
}

describe("a .npy file", () => {
  const matrix = npyOf({ dtype: "f64", shape: [2, 3], values: Float64Array.of(0, 0.25, -1, 1e-300, NaN, 7) });

  it("begins as NumPy's version 1.0 does", () => {
    expect([...matrix.slice(0, 8)]).toEqual([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  });

  it("names type and shape in a header that ends at a multiple of 64 bytes with a line's end", () => {
    const { header, start } = read(matrix);
    expect(header.trimEnd()).toBe("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }");
    expect(start % 64).toBe(0);
    expect(header.endsWith("\n")).toBe(true);
  });

  it("holds the numbers row by row", () => {
    expect([...new Float64Array(matrix.buffer, read(matrix).start)]).toEqual([0, 0.25, -1, 1e-300, NaN, 7]);
  });

  it("keeps the type of the numbers, and the comma of one length", () => {
    const typeOf = (bytes: Uint8Array) => /'descr': '(...)'/.exec(read(bytes).header)?.[1];
    expect(typeOf(npyOf({ dtype: "f16", shape: [1], values: Float32Array.of(1) }))).toBe("<f4");
    expect(typeOf(npyOf({ dtype: "b8", shape: [1], values: Uint8Array.of(1) }))).toBe("|b1");
    expect(read(npyOf({ dtype: "u16", shape: [2], values: Uint16Array.of(1, 2) })).header).toContain("'shape': (2,)");
  });

  it("takes no more than its own part of a larger block", () => {
    const part = new Float32Array(Float32Array.of(9, 1, 2).buffer, 4);
    const bytes = npyOf({ dtype: "f32", shape: [2], values: part });
    expect([...new Float32Array(bytes.buffer, read(bytes).start)]).toEqual([1, 2]);
  });
});
