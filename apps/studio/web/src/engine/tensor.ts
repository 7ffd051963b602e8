// Tensors as replies carry them: a description in the JSON, the values in the block of bytes behind it.

import { joined } from "./frames";

export type Values = Float64Array | Float32Array | Uint8Array | Uint16Array | BigInt64Array;

export interface Tensor {
  dtype: Dtype;
  shape: number[];
  values: Values; // row-major; f16 and bf16 widened to f32
}

export type Dtype = "f64" | "f32" | "f16" | "bf16" | "i64" | "u8" | "u16" | "b8";

const bytesOf: Record<Dtype, number> = { f64: 8, f32: 4, f16: 2, bf16: 2, i64: 8, u8: 1, u16: 2, b8: 1 };

interface Described {
  dtype: Dtype;
  shape: number[];
  at: number;
}

function isDescribed(value: object): value is Described {
  const candidate = value as Partial<Described>;
  return (
    typeof candidate.dtype === "string" &&
    Object.hasOwn(bytesOf, candidate.dtype) &&
    Array.isArray(candidate.shape) &&
    typeof candidate.at === "number"
  );
}

/** The JSON of a reply with every described tensor replaced by one that holds its values. Throws where a tensor lies
 * outside the block. */
export function withTensors(json: unknown, block: Uint8Array): unknown {
  if (Array.isArray(json)) return json.map((part) => withTensors(part, block));
  if (json === null || typeof json !== "object") return json;
  if (isDescribed(json)) return tensorAt(json, block);
  return Object.fromEntries(Object.entries(json).map(([name, part]) => [name, withTensors(part, block)]));
}

/** The counterpart of withTensors: values lie in `block` as they are, so f16 and bf16 are not for it. */
export function withoutTensors(reply: unknown): { json: unknown; block: Uint8Array } {
  const parts: Uint8Array[] = [];
  let at = 0;
  const json: unknown = JSON.parse(JSON.stringify(reply, (_, part: unknown) => {
    if (part === null || typeof part !== "object" || !("values" in part) || !ArrayBuffer.isView(part.values)) return part;
    const { dtype, shape, values } = part as Tensor;
    const described: Described = { dtype, shape, at };
    parts.push(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    at += values.byteLength;
    return described;
  }));
  return { json, block: joined(parts) };
}

function tensorAt({ dtype, shape, at }: Described, block: Uint8Array): Tensor {
  const count = shape.reduce((product, length) => product * length, 1);
  const size = count * bytesOf[dtype];
  const fits = shape.every((length) => Number.isInteger(length) && length >= 0) && at >= 0 && at + size <= block.length;
  if (!fits) {
    throw new Error(
      `tensor ${dtype} [${shape.join(", ")}] at byte ${at} lies outside a block of ${block.length} bytes`,
    );
  }
  const bytes = block.slice(at, at + size).buffer; // a copy of its own, aligned
  return { dtype, shape, values: valuesOf(dtype, bytes) };
}

function valuesOf(dtype: Dtype, bytes: ArrayBuffer): Values {
  switch (dtype) {
    case "f64":
      return new Float64Array(bytes);
    case "f32":
      return new Float32Array(bytes);
    case "f16":
      return Float32Array.from(new Uint16Array(bytes), fromHalf);
    case "bf16":
      return fromBfloat(new Uint16Array(bytes));
    case "i64":
      return new BigInt64Array(bytes);
    case "u16":
      return new Uint16Array(bytes);
    case "u8":
    case "b8":
      return new Uint8Array(bytes);
  }
}

/** IEEE 754 binary16 from its bits. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

// bfloat16 is the upper half of a float32.
function fromBfloat(bits: Uint16Array): Float32Array {
  const whole = new Uint32Array(bits.length);
  bits.forEach((half, n) => (whole[n] = half << 16));
  return new Float32Array(whole.buffer);
}

/** Rows of a matrix [rows, columns]; of a vector [columns], its one row. */
export function sizeOf(tensor: Tensor): { rows: number; columns: number } {
  const columns = tensor.shape.at(-1) ?? 1;
  return { rows: columns === 0 ? 0 : tensor.values.length / columns, columns };
}

/** One number of a matrix; NaN outside it. */
export function valueAt(tensor: Tensor, row: number, column: number): number {
  return Number(tensor.values[row * sizeOf(tensor).columns + column] ?? NaN);
}

export function rowOf(tensor: Tensor, row: number): number[] {
  const { columns } = sizeOf(tensor);
  return Array.from({ length: columns }, (_, column) => valueAt(tensor, row, column));
}
