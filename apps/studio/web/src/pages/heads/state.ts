// What the address says of the page Heads: which model reads what, which of its heads is looked at, and how.

import { wholeNumber, type Fields } from "../../app/address";
import { orFirst } from "../../app/models";
import type { AboutExample, AboutReply, HeadRequest, HeadsReply, HeadsRequest, HeadsSite, PairRequest } from "../../engine/messages";

export type Changes = Record<string, string | null>;

export const views = ["matrix", "image", "lines", "query", "pair", "all"] as const;
export type View = (typeof views)[number];

export interface HeadAt {
  site: string;
  layer: number;
  head: number;
}

export type Site = NonNullable<HeadRequest["site"]>;

/** As a request has it: of a word that is no site, the engine says so. */
export function requested({ site, layer, head }: HeadAt): { site: Site; layer: number; head: number } {
  return { site: site as Site, layer, head };
}

export interface Cell {
  query: number;
  key: number;
}

/** What opens where neither the address nor the command names a model. */
const firstModel = "english";
/** For a model that qkv does not bring along. */
const firstText = "The cat sat down because it was tired";

export function modelOf(fields: Fields, about: AboutReply): string {
  return fields["model"] ?? (about.model || orFirst(firstModel, about));
}

export function examplesOf(about: AboutReply, model: string): AboutExample[] {
  return about.models.find((one) => one.name === model)?.examples ?? [];
}

/** What the model reads: a text, or a held-out example of its task. */
export function readingOf(fields: Fields, about: AboutReply): HeadsRequest {
  const model = modelOf(fields, about);
  const example = wholeNumber(fields["example"]);
  const chat = fields["chat"] === "yes" ? { chat: true } : {};
  const second = fields["context"] && !chat.chat ? { second: fields["context"] } : {};
  if (fields["text"] !== undefined) return { model, text: fields["text"], ...second, ...chat };
  if (example !== null) return { model, example };
  if (about.text && model === about.model) return { model, text: about.text };
  const [first] = examplesOf(about, model);
  return first ? { model, ...readingOfExample(first) } : { model, text: firstText, ...second, ...chat };
}

function readingOfExample({ text, example }: AboutExample): { text: string } | { example: number } {
  return text === "" && example !== null ? { example } : { text };
}

/** The example that this is, with what there is to see; null for the reader's own text. */
export function exampleOf(reading: HeadsRequest, about: AboutReply): AboutExample | null {
  const fits = examplesOf(about, reading.model ?? "").filter(({ text, example }) =>
    reading.text === undefined ? text === "" && example === reading.example : text === reading.text,
  );
  return fits[0] ?? null;
}

const named = /^([a-z_]+)\.(\d{1,4})\.(\d{1,4})$/;

/** "tokens.1.0": site, layer, head. */
export function parsedHead(text: string | undefined): HeadAt | null {
  const [, site, layer, head] = named.exec(text ?? "") ?? [];
  return site !== undefined ? { site, layer: Number(layer), head: Number(head) } : null;
}

export function headName({ site, layer, head }: HeadAt): string {
  return `${site}.${layer}.${head}`;
}

function has(reply: HeadsReply, at: HeadAt): boolean {
  const site = siteOf(reply, at.site);
  return site !== null && at.layer < site.layers && at.head < site.heads;
}

export function siteOf(reply: HeadsReply, name: string): HeadsSite | null {
  return reply.sites.find((site) => site.site === name) ?? null;
}

export const plainClasses = ["mixed", "broad", "-"];

/** The head of the address; else the example's; else the first that shows a pattern. */
export function chosenHead(fields: Fields, example: AboutExample | null, reply: HeadsReply): HeadAt | null {
  const named = parsedHead(fields["head"]);
  if (named && has(reply, named)) return named;
  if (!named && example && has(reply, example)) return { site: example.site, layer: example.layer, head: example.head };
  const site = (named && siteOf(reply, named.site)) ?? reply.sites[0];
  if (!site) return null;
  const telling = site.classes.find((one) => !plainClasses.includes(one.word));
  return { site: site.site, layer: telling?.layer ?? 0, head: telling?.head ?? 0 };
}

/** The pair that is locked: the address's, or where the example has something to see. */
export function lockedCell(fields: Fields, example: AboutExample | null, at: HeadAt, site: HeadsSite): Cell | null {
  const query = wholeNumber(fields["q"]);
  const key = wholeNumber(fields["k"]);
  if (query !== null && key !== null) return query < site.queries.length && key < site.keys.length ? { query, key } : null;
  const isExamples = example !== null && headName(example) === headName(at);
  return isExamples && fields["q"] === undefined ? { query: example.query, key: example.key } : null;
}

/** What there is to see of a site: the picture, where its keys are patches of one. */
export function viewsOf(site: HeadsSite | null): View[] {
  return views.filter((view) => view !== "image" || site?.reads_patches);
}

/** The view of the address; else the picture where there is one, and the matrix. */
export function viewOf(fields: Fields, site: HeadsSite | null): View {
  const known = viewsOf(site);
  return known.find((view) => view === fields["view"]) ?? (known.includes("image") ? "image" : "matrix");
}

export function hidesSpecial(fields: Fields): boolean {
  return fields["special"] === "hide";
}

/** Weights below it are left out of the lines, and fade in the matrix. */
export function thresholdOf(fields: Fields): number {
  const least = Number(fields["min"] ?? 0);
  return least > 0 && least < 1 ? least : 0;
}

export function headRequest(reading: HeadsRequest, at: HeadAt, hideSpecial: boolean): HeadRequest {
  return { ...reading, ...requested(at), ...(hideSpecial ? { hide_special: true } : {}) };
}

export function pairRequest(head: HeadRequest, { query, key }: Cell): PairRequest {
  return { ...head, query, key };
}

// What belongs to one text and says nothing about another.
const ofText: Changes = { q: null, k: null };
const ofModel: Changes = { ...ofText, text: null, context: null, example: null, chat: null, head: null, layer: null, class: null, special: null };

export function modelChanges(model: string): Changes {
  return { ...ofModel, model };
}

export function exampleChanges(model: string, { text, example }: AboutExample): Changes {
  return { ...ofModel, model, text: text || null, example: example === null ? null : String(example) };
}

export function textChanges(model: string, text: string): Changes {
  return { ...ofText, model, text, example: null };
}

export function secondChanges(second: string): Changes {
  return { ...ofText, context: second || null };
}

/** The text as a message in the model's chat template, or as it is. */
export function chatChanges(isMessage: boolean): Changes {
  return { ...ofText, chat: isMessage ? "yes" : null };
}

export function heldOutChanges(model: string, example: number): Changes {
  return { ...ofText, model, text: null, example: String(Math.max(example, 0)) };
}

/** Back to what was read. */
export function readingChanges({ model, text, second, example, chat }: HeadsRequest): Changes {
  const read = { text: text ?? null, context: second ?? null, example: example === undefined ? null : String(example) };
  return { ...ofModel, ...read, model: model ?? null, chat: chat ? "yes" : null };
}

export function cellChanges(cell: Cell | null): Changes {
  return cell ? { q: String(cell.query), k: String(cell.key) } : { q: "none", k: null };
}

/** The address of the page Step with this head on the bench. */
export function benchAddress(reading: HeadsRequest, at: HeadAt, query: number): Record<string, string> {
  const read: Record<string, string> = reading.text === undefined ? { example: String(reading.example ?? 0) } : { text: reading.text };
  if (reading.second !== undefined) read["context"] = reading.second;
  return { model: reading.model ?? "", ...read, head: headName(at), q: String(query) };
}

export function explainCommand(reading: HeadsRequest): string | null {
  if (reading.second !== undefined) return null; // no command reads pairs
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const read = reading.text === undefined ? `--example ${reading.example ?? 0}` : quoted(reading.text);
  return `qkv explain --model ${quoted(reading.model ?? "")} ${read}${reading.chat ? " --chat" : ""}`;
}
