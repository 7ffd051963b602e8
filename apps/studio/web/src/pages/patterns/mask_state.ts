// What the address says of the mask, as the question it stands for; and the text of the expression under the reader's hand.

import { wholeNumber, type Fields } from "../../app/address";
import type { MaskRequest, MaskWordShown } from "../../engine/messages";
import type { DrawnMask } from "./mask_cells";

export const firstMask = "causal & window(512)";
const firstLength = 4096;
const plainLength = 512; // the engine's own
export const longest = 131_072;
const mostCells = 128; // rows and columns of the map

/** `given`: the mask that the studio was opened with. */
export function maskText(fields: Fields, given: string): string {
  return fields["mask"] ?? (given || firstMask);
}

export interface Shape {
  tq: number;
  tk: number;
}

export function shapeOf(fields: Fields, given: string): Shape {
  const plain = given ? plainLength : firstLength;
  return { tq: wholeNumber(fields["tq"]) ?? plain, tk: wholeNumber(fields["tk"]) ?? plain };
}

export function maskRequest(fields: Fields, given: string): MaskRequest {
  const request: Record<string, string | number | boolean | null | undefined> = {
    mask: maskText(fields, given),
    ...shapeOf(fields, given),
    map: true,
    cells: mostCells,
  };
  for (const name of ["batch", "heads", "head", "batch_entry"]) request[name] = wholeNumber(fields[name]);
  request["tile"] = fields["tile"];
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value != null)) as MaskRequest;
}

/** What `qkv mask` takes to print the same. */
export function maskCommand(fields: Fields, given: string): string {
  const { tq, tk } = shapeOf(fields, given);
  const parts = ["qkv mask", `'${maskText(fields, given).replaceAll("'", "'\\''")}'`, `--tq ${tq}`, `--tk ${tk}`];
  for (const name of ["batch", "heads", "tile"]) if (fields[name]) parts.push(`--${name} ${fields[name]}`);
  return parts.join(" ");
}

// The slider of T goes by powers of two and the numbers halfway between them.
export const sliderLeast = 4; // 2²
export const sliderMost = 34; // 2¹⁷

/** 4, 6, 8, 12, 16, … */
export function lengthAt(at: number): number {
  return at % 2 === 0 ? 2 ** (at / 2) : 3 * 2 ** ((at - 3) / 2);
}

export function sliderAt(length: number): number {
  return Math.min(Math.max(Math.round(2 * Math.log2(length)), sliderLeast), sliderMost);
}

export interface Edit {
  text: string;
  caret: number;
}

const operand = /[\w)\]]\s*$/;

/** The expression with a word of the language put in: instead of what is selected, else at the end. Two masks are joined
 * by &. */
export function withWord(text: string, from: number, to: number, word: string): Edit {
  const [before, after] = from < to ? [text.slice(0, from), text.slice(to)] : [text, ""];
  const joined = operand.test(before) ? `${before.trimEnd()} & ${word}` : `${before}${word}`;
  return { text: joined + after, caret: joined.length };
}

/** With & or | behind, or ! before, what is selected or all of it. */
export function withOperator(text: string, from: number, to: number, sign: string): Edit {
  const [start, end] = from < to ? [from, to] : [0, text.length];
  const part = text.slice(start, end).trim();
  const simple = !/[&|]/.test(part);
  const put = sign === "!" ? (simple ? `!${part}` : `!(${part})`) : `${part} ${sign} `;
  return { text: text.slice(0, start) + put + text.slice(end), caret: start + put.length };
}

export interface Fault {
  before: string;
  bad: string;
  after: string;
  says: string;
  /** The word that was probably meant. */
  meant: string | null;
}

/** Where in the expression an error points, from its column (from 1) and message. */
export function faultOf(text: string, column: number, message: string): Fault {
  const at = Math.min(Math.max(column - 1, 0), text.length);
  const bad = /^(\w+|.)?/su.exec(text.slice(at))?.[0] ?? "";
  const [line = ""] = message.split("\n");
  return {
    before: text.slice(0, at),
    bad,
    after: text.slice(at + bad.length),
    says: line.replace(/^.*?column \d+: /, ""),
    meant: /did you mean `([^`]+)`/.exec(line)?.[1] ?? null,
  };
}

export interface Pattern {
  name: string;
  mask: string;
}

/** Masks that models have, with the lengths that the engine proposes for this shape. */
export function patternsOf(words: readonly MaskWordShown[]): Pattern[] {
  const example = (word: string) => words.find((one) => one.word === word)?.example ?? word;
  return [
    { name: "every word", mask: "all" },
    { name: "GPT", mask: "causal" },
    { name: "Mistral", mask: `causal & ${example("window")}` },
    { name: "Longformer", mask: `${example("window")} | ${example("global")}` },
    { name: "prefix LM", mask: `causal | ${example("prefix")}` },
    { name: "sparse transformer", mask: `causal & (${example("window")} | ${example("strided")})` },
    { name: "packed texts", mask: `causal & ${example("documents")}` },
    { name: "padding", mask: example("keys") },
  ];
}

/** Where the bench shows such a row: the mask itself where its words fit, else the chapter's figure with all hidden. */
export function benchFields(reply: DrawnMask, row: number): Fields {
  const most = 12; // words of a bench
  const wrong = { wrong: "minus-1e9" };
  if (reply.tq > most || reply.tk > most) return { mask: "none", ...wrong };
  const words = (count: number) => Array.from({ length: count }, (_, n) => String(n)).join(" ");
  const fields: Record<string, string> = { text: words(reply.tq), mask: reply.mask, q: String(row), ...wrong };
  if (reply.tk !== reply.tq) fields["context"] = words(reply.tk);
  return fields;
}
