// How two replies to one question differ: not at all, or by the rounding of f32.

const within = 2e-5; // of the larger number, or of 1; in a tensor, of its largest: some hundred roundings of f32
const size = { f64: 8, f32: 4, f16: 2, bf16: 2, i64: 8, u8: 1, u16: 2, b8: 1 };

const isTensor = (value) => value !== null && typeof value === "object" && "dtype" in value && "at" in value;

function elementsOf(tensor, blocks) {
  const count = tensor.shape.reduce((a, b) => a * b, 1);
  const bytes = Uint8Array.from(blocks.subarray(tensor.at, tensor.at + count * size[tensor.dtype])).buffer;
  const arrays = { f64: Float64Array, f32: Float32Array, i64: BigInt64Array, u16: Uint16Array, f16: Uint16Array, bf16: Uint16Array };
  const elements = [...new (arrays[tensor.dtype] ?? Uint8Array)(bytes)].map(Number);
  return tensor.dtype === "f16" ? elements.map(ofHalf) : elements;
}

function ofHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

const areNear = (a, b, largest = Math.abs(a)) => a === b || (Number.isNaN(a) && Number.isNaN(b)) || Math.abs(a - b) <= within * Math.max(1, largest);

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
// "6.7 × 10⁻¹⁶", how far a sum is off, is rounding itself.
function withoutRounding(text) {
  return text.replace(/\d+(?:\.\d+)? × 10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (whole, power) => {
    const digits = [...power].map((digit) => superscripts.indexOf(digit)).join("");
    return 10 ** (1 - Number(digits)) < within ? "≈0" : whole;
  });
}

// Numbers in a sentence may differ in their last digit.
function differInText(left, right, place) {
  const [a, b] = [left, right].map(withoutRounding);
  const number = /\d+(\.\d+)?/g;
  if (a.replace(number, "#") !== b.replace(number, "#")) return `${place}: "${a}" and "${b}"`;
  const theirs = b.match(number) ?? [];
  const far = (a.match(number) ?? []).find((text, n) => {
    const decimals = text.split(".")[1]?.length ?? 0;
    return Math.abs(Number(text) - Number(theirs[n])) > 1.5 * 10 ** -decimals * (decimals ? 1 : 0.5);
  });
  return far === undefined ? null : `${place}: "${a}" and "${b}"`;
}

function firstOf(names, differ) {
  for (const name of names) {
    const found = differ(name);
    if (found) return found;
  }
  return null;
}

// A page has a map's values as its digits show them, by any number that is shown so: where the last digit differs, they are
// up to two of its units apart. In f64 they are whole.
const shownDigit = (map) => (isTensor(map.values) && map.values.dtype === "f32" && "decimals" in map ? 2 * 10 ** -map.decimals : 0);

/** Where two replies differ by more than the rounding of f32, or of `digit` in a tensor, in words; null if nowhere. */
export function differ(a, b, blocks, place = "reply", digit = 0) {
  if (typeof a !== typeof b) return `${place}: ${typeof a} and ${typeof b}`;
  if (typeof a === "number") return areNear(a, b) ? null : `${place}: ${a} and ${b}`;
  if (typeof a === "string") return differInText(a, b, place);
  if (a === null || b === null || typeof a !== "object") return a === b ? null : `${place}: ${a} and ${b}`;
  if (isTensor(a)) {
    const [ours, theirs] = [elementsOf(a, blocks[0]), elementsOf(b, blocks[1])];
    // Shades may be the next one, and halves the next half.
    const step = (n) => (a.dtype.startsWith("u") ? 1 : a.dtype === "f16" ? Math.abs(ours[n]) / 1024 : digit);
    const largest = ours.reduce((most, one) => (Number.isFinite(one) ? Math.max(most, Math.abs(one)) : most), 0);
    const near = (n) => Math.abs(ours[n] - theirs[n]) <= step(n) || areNear(ours[n], theirs[n], largest);
    if (ours.length !== theirs.length) return `${place}: ${ours.length} and ${theirs.length} numbers`;
    return firstOf(ours.keys(), (n) => (near(n) ? null : `${place}[${n}]: ${ours[n]} and ${theirs[n]}`));
  }
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return firstOf(names, (name) => differ(a[name], b[name], blocks, `${place}.${name}`, name === "values" ? shownDigit(a) : 0));
}
