// What the address says of the page Far: whose matrix, which place of it, and what is chosen there.

import { wholeNumber, type Fields } from "../../app/address";
import { grouped } from "../../drawing/amounts";
import type { Extent, Size, Spot, View } from "../../drawing/tiles";
import type { AboutReply, FarOpenRequest, FarReply } from "../../engine/messages";
import { headName, parsedHead, type HeadAt, type Site } from "../heads/state";
import { centred, centreOf, wholeScale, wholeView } from "./view";

export type Changes = Record<string, string | null>;

export const usualTokens = 131072;
/** Where the engine is in the page, on one thread. */
export const fewerTokens = 16384;
export const tokenSteps = Array.from({ length: 11 }, (_, n) => 1024 * 2 ** n);
export const usualMask = "causal";
/** For a file without a model. */
export const modelOfFiles = "gpt";

export type Shown = "largest" | "mean";

/** The model of the address; else that of the command, or one for its file; empty for the text that is made up. */
export function modelOf(fields: Fields, about: AboutReply): string {
  const { model } = fields;
  if (model !== undefined) return model === "none" ? "" : model;
  if (about.model !== "") return about.model;
  return about.file === "" ? "" : modelOfFiles;
}

/** A file that was opened in the browser: the address has its name and a hash, and not its text. */
export interface OpenedFile {
  name: string;
  text: string;
}

/** "README.md:1f83d9ab" (FNV-1a, 32 bits). */
export function fileMark({ name, text }: OpenedFile): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return `${name}:${(hash >>> 0).toString(16).padStart(8, "0")}`;
}

export function fileName(mark: string): string {
  return mark.replace(/:[0-9a-f]{8}$/, "");
}

/** What is read: a text of the address, a file opened here, the command's file (an empty text), its text, or an example. */
export function textOf(fields: Fields, about: AboutReply, model: string, opened: OpenedFile | null): string | null {
  if (fields["text"] !== undefined) return fields["text"];
  if (fields["file"] !== undefined) return opened && fileMark(opened) === fields["file"] ? opened.text : null;
  if (about.file !== "") return "";
  if (about.text !== "" && about.model === model) return about.text;
  return about.models.find((one) => one.name === model)?.examples.find((one) => one.text !== "")?.text ?? plainText;
}

const plainText = "The cat sat down because it was tired.";

export function headOf(fields: Fields): HeadAt {
  return parsedHead(fields["head"]) ?? { site: "", layer: 0, head: 0 };
}

export function tokensOf(fields: Fields, usual = usualTokens): number {
  return wholeNumber(fields["tokens"]) ?? usual;
}

export function maskOf(fields: Fields, about: AboutReply): string {
  return fields["mask"] === "none" ? "" : (fields["mask"] ?? (about.mask || usualMask));
}

/** Null while the file that the address names is not here. */
export function farRequest(fields: Fields, about: AboutReply, opened: OpenedFile | null, usual = usualTokens): FarOpenRequest | null {
  const model = modelOf(fields, about);
  if (model === "" && about.probe !== "") return { head: headOf(fields).head };
  if (model === "") return { tokens: tokensOf(fields, usual), mask: maskOf(fields, about), seed: wholeNumber(fields["seed"]) ?? 1 };
  const text = textOf(fields, about, model, opened);
  if (text === null) return null;
  const { site, layer, head } = headOf(fields);
  return { model, ...(text === "" ? {} : { text }), ...(site === "" ? {} : { site: site as Site }), layer, head };
}

/** The chosen query: the address's; else, of a text that is made up, the first with a needle. */
export function queryOf(fields: Fields, reply: FarReply): number | null {
  if (fields["q"] === "none") return null;
  const query = wholeNumber(fields["q"]);
  if (query !== null) return query < reply.queries ? query : null;
  return reply.needles[0]?.query ?? null;
}

export function keyOf(fields: Fields, reply: FarReply): number | null {
  const key = wholeNumber(fields["k"]);
  return key !== null && key < reply.keys ? key : null;
}

export function shownOf(fields: Fields): Shown {
  return fields["cell"] === "mean" ? "mean" : "largest";
}

const pair = /^(\d{1,9}),(\d{1,9})$/;

/** "at=100000,99120&span=512": the place in the middle, and how many keys the picture is wide. */
export function viewOf(fields: Fields, extent: Extent, size: Size): View {
  const [, query, key] = pair.exec(fields["at"] ?? "") ?? [];
  const span = wholeNumber(fields["span"]);
  if (query === undefined || key === undefined || !span) return wholeView(extent, size);
  return centred({ query: Number(query) + 0.5, key: Number(key) + 0.5 }, size.width / span, size);
}

export function viewChanges(view: View, extent: Extent, size: Size): Changes {
  if (view.scale <= wholeScale(extent, size) * 1.001) return { at: null, span: null };
  const { query, key } = centreOf(view, size);
  const within = (at: number, most: number) => Math.min(Math.max(Math.floor(at), 0), most - 1);
  return { at: `${within(query, extent.queries)},${within(key, extent.keys)}`, span: String(Math.max(1, Math.round(size.width / view.scale))) };
}

/** What belongs to one matrix and says nothing about another. */
export const ofMatrix: Changes = { q: null, k: null, at: null, span: null };
export const ofText: Changes = { ...ofMatrix, head: null };

export function modelChanges(model: string): Changes {
  return { ...ofText, find: null, text: null, file: null, tokens: null, mask: null, seed: null, model: model === "" ? "none" : model };
}

/** "queries 98,304 to 98,335" */
export function ranged(what: string, from: number, to: number): string {
  if (to - from === 1) return `${what === "queries" ? "query" : "key"} ${grouped(from)}`;
  return `${what} ${grouped(from)} to ${grouped(to - 1)}`;
}

/** A query, or a query and a key: "100000", "100,000 99,120", "100000,99120". */
export function typedPlace(text: string): { query: number; key: number | null } | null {
  const parts = text.trim().split(/\s*[;x×]\s*|\s+/).flatMap((part) => (/^\d{1,3}(,\d{3})+$/.test(part) ? [part.replaceAll(",", "")] : part.split(",").filter((one) => one !== "")));
  if (parts.length < 1 || parts.length > 2 || parts.some((part) => wholeNumber(part) === null)) return null;
  return { query: Number(parts[0]), key: parts[1] === undefined ? null : Number(parts[1]) };
}

export function spotOf(query: number, key: number): Spot {
  return { query: query + 0.5, key: key + 0.5 };
}

const shell = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The command that prints the chosen row; of all, where none is chosen. Undefined for a probe: it is in no file. */
export function probeCommand(request: FarOpenRequest, about: AboutReply, fileName: string | null, query: number | null): string | undefined {
  if (request.model === undefined && request.tokens === undefined) return undefined;
  const what = query === null ? "--top-k 8" : `--row ${query}`;
  if (request.model === undefined) {
    const mask = request.mask ? ` --mask ${shell(request.mask)}` : "";
    return `qkv probe --planted ${request.tokens} --seed ${request.seed}${mask} ${what}`;
  }
  const file = fileName ?? about.file;
  const text = fileName === null && request.text !== undefined ? `--text ${shell(request.text)}` : `--file ${shell(file)}`;
  const site = request.site ? ` --site ${request.site}` : "";
  return `qkv probe --model ${shell(request.model)} ${text}${site} --layer ${request.layer} --head ${request.head} ${what}`;
}

/** Where the step page lays this row on the bench; null where the matrix is too large for it. */
export function benchAddress(request: FarOpenRequest, reply: FarReply, query: number): Record<string, string> | null {
  if (request.model === undefined || request.text === undefined || reply.keys > mostOnBench) return null;
  return { model: request.model, text: request.text, head: headName({ site: reply.site, layer: request.layer ?? 0, head: request.head ?? 0 }), q: String(query) };
}

const mostOnBench = 1024; // as on the page Heads
