// A tensor as NumPy's file of one array, version 1.0: a magic string, a header in Python's words, then the numbers.

import type { Tensor, Values } from "../engine/tensor";

const alignment = 64;
const lineEnd = 0x0a;
const magic = [0x93, ...Array.from("NUMPY", (letter) => letter.charCodeAt(0)), 1, 0];

function typeOf(values: Values): string {
  if (values instanceof Float64Array) return "<f8";
  if (values instanceof Float32Array) return "<f4";
  if (values instanceof BigInt64Array) return "<i8";
  return values instanceof Uint16Array ? "<u2" : "|u1";
}

/** Bytes of `numpy.load`, row-major, with the type in which the page holds the numbers. */
export function npyOf({ dtype, shape, values }: Tensor): Uint8Array<ArrayBuffer> {
  const type = dtype === "b8" ? "|b1" : typeOf(values);
  const lengths = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${lengths}), }`;
  const before = magic.length + 2;
  const start = Math.ceil((before + header.length + 1) / alignment) * alignment;
  const bytes = new Uint8Array(start + values.byteLength).fill(0x20, before, start);
  bytes.set(magic);
  new DataView(bytes.buffer).setUint16(magic.length, start - before, true);
  bytes.set(new TextEncoder().encode(header), before);
  bytes[start - 1] = lineEnd;
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), start);
  return bytes;
}
