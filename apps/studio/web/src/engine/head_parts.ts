// What the replies about a head follow from, and the replies: the counterpart of src/api/heads.cc.

import type { HeadPartsReply, HeadReply, HeadRequest, PairReply, PairRequest } from "./messages";
import { rowOf, sizeOf, type Tensor } from "./tensor";

/** Weights of a head, with special tokens left out where that is asked for. */
interface Shown {
  weights: Float32Array;
  hidden: Uint8Array | null;
  seen: number[];
}

const special = "separator";

const vector = (values: Float64Array): Tensor => ({ dtype: "f64", shape: [values.length], values });

export function headOf(parts: HeadPartsReply, { hide_special }: HeadRequest): HeadReply {
  const { title, queries, keys, roles, second_from, shown, patterns } = parts;
  const columns = keys.length;
  const { weights, hidden, seen } = shownOf(parts, hide_special === true);
  const keyTotals = new Float64Array(columns);
  const queryTotals = new Float64Array(queries.length);
  const entropy = new Float64Array(queries.length);
  const times = new Float32Array(weights.length);
  weights.forEach((weight, at) => {
    const row = Math.floor(at / columns);
    const column = at - row * columns;
    keyTotals[column] = keyTotals[column]! + weight;
    queryTotals[row] = queryTotals[row]! + weight;
    if (weight > 0) entropy[row] = entropy[row]! - weight * Math.log(weight);
    times[at] = weight * seen[row]!;
  });
  const shape = [queries.length, columns];
  return {
    ...{ title, queries, keys, roles, second_from, shown, patterns },
    weights: { dtype: "f32", shape, values: weights },
    times_uniform: { dtype: "f32", shape, values: times },
    hidden: hidden && { dtype: "b8", shape, values: hidden },
    hidden_special: hide_special ? parts.hidden_special : "",
    key_totals: vector(keyTotals),
    query_totals: vector(queryTotals),
    seen: { dtype: "i64", shape: [queries.length], values: BigInt64Array.from(seen, BigInt) },
    entropy: vector(entropy),
  };
}

export function pairOf(parts: HeadPartsReply, request: PairRequest): PairReply {
  const { query = 0, key = 0 } = request;
  const q = Float64Array.from(rowOf(parts.q, query));
  const k = Float64Array.from(rowOf(parts.k, key));
  const products = q.map((value, n) => value * k[n]!);
  const score = scoreOf(parts, query, key);
  const shown = shownOf(parts, request.hide_special === true);
  return {
    query: parts.queries[query] ?? "",
    key: parts.keys[key] ?? "",
    q: vector(q),
    k: vector(k),
    products: vector(products),
    dot: products.reduce((sum, term) => sum + term, 0),
    scale: parts.scale,
    softcapped: parts.softcap === null ? null : cappedOf(parts, query, key),
    bias: parts.bias && Number.isFinite(score) ? Number(parts.bias.values[query * parts.keys.length + key]) : null,
    score: Number.isFinite(score) ? score : null,
    weight: weightOf(parts, query, score),
    weight_left: request.hide_special ? shown.weights[query * parts.keys.length + key]! : null,
    uniform: 1 / Math.max(1, shown.seen[query] ?? 1),
  };
}

function scoreOf(parts: HeadPartsReply, query: number, key: number): number {
  const { bias, hidden } = parts;
  const at = query * sizeOf(parts.k).rows + key;
  if (hidden && hidden.values[at]) return -Infinity;
  return cappedOf(parts, query, key) + (bias ? Number(bias.values[at]) : 0);
}

function cappedOf({ q, k, scale, softcap }: HeadPartsReply, query: number, key: number): number {
  const { columns: width } = sizeOf(q);
  let dot = 0;
  for (let n = 0; n < width; ++n) dot += Number(q.values[query * width + n]) * Number(k.values[key * width + n]);
  const scaled = dot * scale;
  return softcap === null ? scaled : softcap * Math.tanh(scaled / softcap);
}

// A row that sees nothing has lse −∞ and weights 0.
function weightOf({ lse }: HeadPartsReply, query: number, score: number): number {
  return score === -Infinity ? 0 : Math.exp(score - Number(lse.values[query]));
}

function shownOf(parts: HeadPartsReply, hidesSpecial: boolean): Shown {
  const [rows, columns] = [parts.queries.length, parts.keys.length];
  const weights = new Float32Array(rows * columns);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      weights[row * columns + column] = weightOf(parts, row, scoreOf(parts, row, column));
    }
  }
  const left = hidesSpecial ? parts.roles.map((role) => role !== special) : [];
  let hidden = parts.hidden ? Uint8Array.from(parts.hidden.values as Uint8Array) : null;
  if (left.includes(false)) {
    hidden ??= new Uint8Array(weights.length);
    for (let row = 0; row < rows; ++row) {
      hideIn(weights.subarray(row * columns, (row + 1) * columns), hidden.subarray(row * columns, (row + 1) * columns), left);
    }
  }
  return { weights, hidden, seen: seenOf(hidden, rows, columns) };
}

/** Hides the keys that are not `left`; what is left is divided by its sum. */
function hideIn(weights: Float32Array, hidden: Uint8Array, left: readonly boolean[]): void {
  const sum = weights.reduce((sum, weight, key) => (left[key] ? sum + weight : sum), 0);
  left.forEach((stays, key) => {
    weights[key] = stays && sum > 0 ? weights[key]! / sum : 0;
    if (!stays) hidden[key] = 1;
  });
}

function seenOf(hidden: Uint8Array | null, rows: number, columns: number): number[] {
  return Array.from({ length: rows }, (_, row) =>
    hidden ? hidden.subarray(row * columns, (row + 1) * columns).reduce((seen, one) => seen - one, columns) : columns,
  );
}
