// What the address says of the bench, as the request that it stands for, and the changes a reader can make to it.

import { withFields, type Fields } from "../../app/address";
import { plainNumber } from "../../drawing/numbers";
import type { BenchRequest, ChangeRequest, NumberRequest } from "../../engine/messages";
import { rowOf, sizeOf, type Tensor } from "../../engine/tensor";
import { parsedName } from "../../parts/links";
import { bracketed, identity, withCell, withoutRow, withRows } from "./matrix_text";

/** The chapter's figure. */
export const defaults = {
  text: "the cat sat",
  Q: "1,0;0,1;1,1",
  K: "1,0;0,1;1,1",
  V: "2,0;0,3;1,1",
  query: 1,
} as const;

export type MatrixField = "Q" | "K" | "V" | "X" | "Wq" | "Wk" | "Wv" | "dY";

/** Which field of the address holds a matrix of the reply. */
export const fieldOf: Readonly<Record<string, MatrixField>> = {
  q: "Q",
  k: "K",
  v: "V",
  x: "X",
  w_q: "Wq",
  w_k: "Wk",
  w_v: "Wv",
  d_out: "dY",
};

/** What can be changed of a model's head. */
export function isHeads(matrix: string): boolean {
  return matrix === "q" || matrix === "k" || matrix === "v";
}

type Changes = Record<string, string | null>;

export function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/).filter(Boolean);
}

export function queryWords(fields: Fields): string[] {
  const words = wordsOf(fields["text"] ?? "");
  return words.length > 0 ? words : wordsOf(defaults.text);
}

export function keyWords(fields: Fields): string[] {
  const words = wordsOf(fields["context"] ?? "");
  return words.length > 0 ? words : queryWords(fields);
}

export function onRealHead(fields: Fields): boolean {
  return fields["model"] !== undefined;
}

/** A head of the model that `qkv explain` draws for a text. */
export function isDrawn(fields: Fields): boolean {
  return fields["seed"] !== undefined && !onRealHead(fields);
}

/** Whether the numbers come from a model, and are not the reader's own. */
export function isFromModel(fields: Fields): boolean {
  return onRealHead(fields) || isDrawn(fields);
}

/** The matrix as written, with as many rows as there are words. */
export function matrixText(fields: Fields, field: MatrixField): string {
  const queries = queryWords(fields).length;
  const keys = keyWords(fields).length;
  switch (field) {
    case "Q":
      return withRows(fields[field] ?? defaults.Q, queries, defaults.Q);
    case "K":
    case "V":
      return withRows(fields[field] ?? defaults[field], keys, defaults[field]);
    case "X":
      return withRows(fields[field] ?? identity(queries), queries, "0");
    case "dY":
      return fields[field] ?? "";
    default:
      return fields[field] ?? "";
  }
}

export function queryOf(fields: Fields): number {
  const query = Number(fields["q"] ?? defaults.query);
  const count = queryWords(fields).length;
  return Number.isInteger(query) && query >= 0 && (query < count || onRealHead(fields))
    ? query
    : Math.min(defaults.query, count - 1);
}

export function usesX(fields: Fields): boolean {
  return fields["X"] !== undefined;
}

export function isBackward(fields: Fields): boolean {
  return fields["back"] !== undefined || fields["dY"] !== undefined;
}

/** The output whose gradient is asked for, as the request's `move` writes it: "1,0". The query's first, if none is. */
export function movedOutput(fields: Fields): string {
  const back = fields["back"] ?? "";
  return /^\d+,\d+$/.test(back) ? back : `${queryOf(fields)},0`;
}

const mostAsking = 12; // queries, as the engine draws them

function queriesOf(fields: Fields): number {
  const rows = fields["q"] ?? fields["x"];
  return rows !== undefined ? rows.split(";").length : (fields["tokens"] ?? "").trim().split(/\s+/).length;
}

/** Whether a short text asks itself in one head, whose keys another text can ask, too. */
export function asksItself(fields: Fields): boolean {
  const isOne = fields["context"] === undefined && !onRealHead(fields) && (!isDrawn(fields) || fields["heads"] === "1");
  return isOne && queriesOf(fields) <= mostAsking;
}

function finite(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && text !== "" && Number.isFinite(value) ? value : undefined;
}

/** The mistake that the address names, "" for none. That without positions no order is seen is shown on shuffled words. */
export function mistakeOf(fields: Fields): string {
  const named = fields["wrong"] ?? "";
  return named === "no-positions" ? "shuffled" : named;
}

/** What differs from the engine's own defaults: the chapter's figure is {}, which a frozen page can hold. */
export function benchRequest(fields: Fields): BenchRequest {
  const query = queryOf(fields);
  const request: Record<string, string | number | undefined> = inputsOf(fields);
  if (query !== defaults.query) request["query"] = query;
  request["nudge"] = fields["nudge"];
  request["wrong"] = mistakeOf(fields);
  if (!onRealHead(fields)) {
    for (const name of ["mask", "bias"]) request[name] = fields[name];
    for (const name of ["scale", "softcap"]) request[name] = finite(fields[name]) ?? fields[name]; // the engine says what is none
  }
  if (fields["wrong"] === "no-scale") request["wrong_d"] = finite(fields["d"]);
  if (fields["dY"] !== undefined) request["d_out"] = fields["dY"];
  else if (isBackward(fields)) request["move"] = movedOutput(fields);
  return Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== undefined && value !== ""),
  ) as BenchRequest;
}

/** One number of a bench: it is the same whatever mistake or nudge stands beside. */
export function numberOf(bench: BenchRequest, of: string): NumberRequest {
  const { wrong, wrong_d, nudge, ...laidOut } = bench;
  return { ...laidOut, of };
}

function inputsOf(fields: Fields): Record<string, string | number | undefined> {
  if (onRealHead(fields)) return realHead(fields);
  if (isDrawn(fields)) return drawnHead(fields);
  if (!["text", "context", "Q", "K", "V", "X"].some((name) => fields[name] !== undefined)) return {};
  const words = { tokens: queryWords(fields).join(" "), context: fields["context"] };
  if (usesX(fields)) {
    return { ...words, x: matrixText(fields, "X"), w_q: fields["Wq"], w_k: fields["Wk"], w_v: fields["Wv"] };
  }
  return { ...words, q: matrixText(fields, "Q"), k: matrixText(fields, "K"), v: matrixText(fields, "V") };
}

function drawnHead(fields: Fields): Record<string, string | number | undefined> {
  const numbers = ["seed", "heads", "kv_heads", "d_model", "d_k", "d_v", "head"];
  return {
    tokens: queryWords(fields).join(" "),
    context: fields["context"],
    positions: fields["positions"],
    ...Object.fromEntries(numbers.map((name) => [name, finite(fields[name])])),
  };
}

// head=tokens.1.0: the site, the layer, the head.
function realHead(fields: Fields): Record<string, string | number | undefined> {
  const [, site, layer, head] = /^([a-z_]+)\.(\d+)\.(\d+)$/.exec(fields["head"] ?? "") ?? [];
  return {
    model: fields["model"],
    text: fields["text"],
    second: fields["context"],
    example: finite(fields["example"]),
    site,
    layer: finite(layer),
    head: finite(head),
    set: fields["set"],
  };
}

/** The numbers of a model's head that are changed, as the address has them: "k:2,5:0.7". */
export function setNumbers(fields: Fields): string[] {
  return onRealHead(fields) ? (fields["set"] ?? "").split(";").filter(Boolean) : [];
}

/** What the model says once the numbers that are changed have run through the rest of it; null where nothing can be asked. */
export function changeRequest(fields: Fields): ChangeRequest | null {
  const [, site, head] = /^([a-z_]+)\.(\d+\.\d+)$/.exec(fields["head"] ?? "") ?? [];
  if (!onRealHead(fields) || head === undefined || fields["context"] !== undefined) return null;
  const example = finite(fields["example"]);
  const read = fields["text"] === undefined ? { example: example ?? 0 } : { text: fields["text"] };
  const at = site === "tokens" ? head : `${site}:${head}`;
  const changes = setNumbers(fields).map((one) => `set ${at}=${one}`);
  return { model: fields["model"] ?? "", ...read, ...(changes.length > 0 ? { changes } : { untouched: true }) };
}

/** One number of an input changed. */
export function editChanges(fields: Fields, matrix: string, row: number, column: number, value: number): Changes {
  if (onRealHead(fields) && isHeads(matrix)) {
    const name = `${matrix}:${row},${column}:`;
    const others = setNumbers(fields).filter((one) => !one.startsWith(name));
    return { set: [...others, name + plainNumber(value)].join(";"), nudge: null };
  }
  const field = fieldOf[matrix];
  if (!field) return {};
  const changed = withCell(matrixText(fields, field), row, column, plainNumber(value));
  const same = field in defaults && changed === defaults[field as "Q" | "K" | "V"];
  return { [field]: same ? null : changed, nudge: null };
}

/** One number of a gradient that was asked for by clicking: from then on all of them are given. */
export function dOutChanges(d_out: Tensor, row: number, column: number, value: number): Changes {
  const rows = textOf(d_out);
  return { dY: withCell(rows, row, column, plainNumber(value)), back: null };
}

export function textOf(matrix: Tensor): string {
  const { rows } = sizeOf(matrix);
  return Array.from({ length: rows }, (_, row) => rowOf(matrix, row).map(plainNumber).join(",")).join(";");
}

const moreWords = ["down", "and", "slept", "again", "today"];
export const mostWords = 12;

export function addedWord(fields: Fields): Changes {
  const words = queryWords(fields);
  const next = moreWords[(words.length - 3 + moreWords.length) % moreWords.length] ?? "more";
  return textChanges(fields, [...words, next].join(" "));
}

export function removedWord(fields: Fields, at: number): Changes {
  const words = queryWords(fields).filter((_, n) => n !== at);
  const changes: Changes = { text: words.join(" "), back: null, dY: null, nudge: null, pin: null };
  if (isDrawn(fields)) return { ...changes, q: queryChange(Math.min(queryOf(fields), words.length - 1)) };
  const own = fields["context"] === undefined;
  const shrunk: MatrixField[] = usesX(fields) ? ["X"] : own ? ["Q", "K", "V"] : ["Q"];
  for (const field of shrunk) changes[field] = withoutRow(matrixText(fields, field), at);
  const query = queryOf(fields);
  changes["q"] = queryChange(query > at || query === words.length ? query - 1 : query);
  return changes;
}

export function queryChange(query: number): string | null {
  return query === defaults.query ? null : String(query);
}

/** Another text: matrices that were edited keep their first rows. */
export function textChanges(fields: Fields, text: string): Changes {
  if (onRealHead(fields))
    return { text, set: null, back: null, dY: null, nudge: null, pin: null, q: null };
  const next = withFields(fields, { text: text === defaults.text ? null : text });
  const count = queryWords(next).length;
  const changes: Changes = { text: next["text"] ?? null, dY: null, back: null, nudge: null, pin: null };
  if (queryOf(fields) >= count) changes["q"] = queryChange(Math.max(count - 1, 0));
  for (const field of ["Q", "K", "V", "X"] as const)
    if (fields[field] !== undefined) changes[field] = matrixText(next, field);
  return changes;
}

/** From Q, K, V to X and W: each word one-hot, so that W's rows are the vectors and every number stays. */
export function toX(fields: Fields): Changes {
  const words = keyWords(fields).length;
  return {
    X: identity(words),
    Wq: matrixText(fields, "Q"),
    Wk: matrixText(fields, "K"),
    Wv: matrixText(fields, "V"),
    Q: null,
    K: null,
    V: null,
    context: null,
    nudge: null,
    pin: null,
  };
}

/** Back from X and W to the q, k and v that they made. */
export function fromX(q: Tensor, k: Tensor, v: Tensor): Changes {
  return { X: null, Wq: null, Wk: null, Wv: null, Q: textOf(q), K: textOf(k), V: textOf(v), nudge: null, pin: null };
}

/** What `qkv explain` takes to print the same; `made` are q, k and v where they are made from x. */
export function explainCommand(fields: Fields, made: Readonly<Record<"Q" | "K" | "V", string>> | null): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  if (isDrawn(fields)) {
    const drawn = ["seed", "heads", "kv_heads", "d_model", "d_k", "d_v", "positions", "mask", "bias", "scale", "softcap"];
    const options = drawn.filter((name) => fields[name]).map((name) => `--${name.replace("_", "-")} ${quoted(fields[name] ?? "")}`);
    const context = fields["context"] ? [`--context ${quoted(fields["context"])}`] : [];
    return ["qkv explain", quoted(queryWords(fields).join(" ")), ...context, ...options, `--query ${queryOf(fields)}`].join(" ");
  }
  if (fields["model"]) return `qkv explain --model ${quoted(fields["model"])} ${quoted(fields["text"] ?? "")}`;
  const parts = ["qkv explain", quoted(queryWords(fields).join(" "))];
  if (fields["context"]) parts.push("--context", quoted(fields["context"]));
  for (const field of ["Q", "K", "V"] as const)
    parts.push(`--${field.toLowerCase()}`, quoted(bracketed(made?.[field] ?? matrixText(fields, field))));
  for (const name of ["mask", "bias", "scale", "softcap"])
    if (fields[name]) parts.push(`--${name}`, quoted(fields[name]));
  parts.push("--query", String(queryOf(fields)));
  return parts.join(" ");
}

export function isPinnable(name: string | undefined): name is string {
  return name !== undefined && parsedName(name) !== null;
}
