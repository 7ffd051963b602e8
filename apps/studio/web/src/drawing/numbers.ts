// Numbers as cells show them, as src/explain/numbers.cc writes them, with a typographic minus.

/** "0.25", "−3.10"; "0" for zero and "≈0" for what rounds to it; from 10⁹ on "1.0 × 10⁹"; "−∞", "∞", "NaN". */
export function shown(value: number, decimals: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  if (value === 0) return "0";
  if (Math.abs(value) < 0.5 * 10 ** -decimals) return "≈0";
  return withMinus(Math.abs(value) < 1e9 ? value.toFixed(decimals) : withPower(value));
}

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function withPower(value: number): string {
  const [digits = "", power = ""] = value.toExponential(1).split("e");
  const raised = [...power.replace("+", "")].map((digit) => (digit === "-" ? "⁻" : (superscripts[Number(digit)] ?? "")));
  return `${digits} × 10${raised.join("")}`;
}

export function withMinus(text: string): string {
  return text.replace("-", "−");
}

/** How many decimals cells of this height have room for, of the matrix's own `decimals`; null: none, colour alone. */
export function decimalsIn(cellSize: number, decimals: number): number | null {
  if (cellSize >= 44) return Math.min(decimals, 3);
  return cellSize >= 28 ? Math.min(decimals, 2) : null;
}

/** A number that someone typed: "0.5", "-1", "−1", "1e-3", ".5"; null for what is none. */
export function typedNumber(text: string): number | null {
  const plain = text.trim().replace("−", "-").replace(",", ".");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

/** What is wrong with a text where a number is to be typed; null for a number. */
export function numberProblem(text: string): string | null {
  if (typedNumber(text) !== null) return null;
  const got = text.trim() === "" ? "nothing" : `“${text.trim()}”`;
  return `Expected a number, such as 0.5 or −2, but got ${got}.`;
}

/** What may yet become a number as more of it is typed: "", "-", ".", "2e". */
export function beginsNumber(text: string): boolean {
  return typedNumber(`${text.trim()}0`) !== null;
}

/** As a matrix in an address writes it: the shortest text that reads back equal. */
export function plainNumber(value: number): string {
  return Object.is(value, -0) ? "0" : String(value);
}

/** `value` moved by `step`, without the digits that binary fractions would add. */
export function nudged(value: number, step: number): number {
  return Number((value + step).toFixed(6));
}
