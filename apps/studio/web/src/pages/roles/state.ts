// What the address says of the page Roles, and the questions that follow from it.

import type { Fields } from "../../app/address";
import { orFirst } from "../../app/models";
import type { AboutReply, AnalyzeRequest, ChangeRequest, HeadRequest } from "../../engine/messages";
import { readingOf, requested, headName, type HeadAt } from "../heads/state";
import { changesIn, readsOtherText, withoutPlaces, written } from "./changes";

/** Fields of a request whose errors stand at the model and its text. */
export const atTheText = ["model", "text", "example"];

export type FieldChanges = Record<string, string | null>;

const firstModel = "induction";
const firstText = "abcxyzab";

/** The model, and what it reads: a text, or a held-out example of its task. */
export interface Inputs {
  model: string;
  text?: string;
  example?: number;
}

/** The value that a layer of this head's stack hands on, by its name in a trace. */
export function stateName({ site }: HeadAt, layer: number, hasSource: boolean): string {
  const stack = hasSource ? (site === "source" ? "encoder." : "decoder.") : "";
  return `${stack}blocks.${layer}`;
}

/** What the head hands on, before the heads are mixed. */
export function headResultName(head: HeadAt, hasSource: boolean): string {
  return `${stateName(head, head.layer, hasSource)}.${head.site === "cross" ? "cross" : "attn"}.heads.${head.head}`;
}

export function isSameHead(a: HeadAt | null, b: HeadAt | null): boolean {
  return a !== null && b !== null && headName(a) === headName(b);
}

/** What the address says, else what the command opened, else what there is to try first. */
export function inputsOf(fields: Fields, about: AboutReply | null): Inputs {
  const model = fields["model"] ?? (about ? about.model || orFirst(firstModel, about) : firstModel);
  if (!about) return { model, text: fields["text"] ?? firstText };
  const { text, example } = readingOf({ ...fields, model }, about);
  return text === undefined ? { model, example: example ?? 0 } : { model, text };
}

// So many that a page does not wait long.
const examples = 16;
const removedOn = 8;

export function analyzeRequest({ model }: Inputs, fields: Fields): AnalyzeRequest {
  const texts = (fields["texts"] ?? "").split(/\r?\n/).filter((line) => line !== "");
  return { model, ...(texts.length > 0 ? { texts } : { count: examples }), importance: removedOn };
}

export function headRequest(inputs: Inputs, head: HeadAt): HeadRequest {
  return { ...inputs, ...requested(head) };
}

/** The head in the model as it is changed; null where nothing is. */
export function changedHeadRequest(inputs: Inputs, fields: Fields, head: HeadAt): HeadRequest | null {
  const changes = changesIn(fields["changes"]);
  if (changes.length === 0) return null;
  const from = readsOtherText(changes) ? fields["from_text"] : undefined;
  return { ...inputs, ...requested(head), changes: written(changes), ...(from ? { from_text: from } : {}) };
}

export function changeRequest(inputs: Inputs, fields: Fields): ChangeRequest {
  const changes = changesIn(fields["changes"]);
  const request: ChangeRequest = { ...inputs, ...(changes.length > 0 ? { changes } : { untouched: true }) };
  for (const name of ["from_text", "query", "token"] as const) if (fields[name]) request[name] = fields[name];
  return request;
}

/** What else goes with another model or text: a place of the old text means nothing in the new one. */
export function withNewText({ model }: Inputs, fields: Fields, changes: FieldChanges): FieldChanges {
  const ofText = { ...changes, query: null, token: null, from_text: null };
  if (changes["model"] && changes["model"] !== model) return { ...ofText, texts: null, sort: null, changes: null };
  return { ...ofText, changes: written(withoutPlaces(changesIn(fields["changes"]))) };
}

const quoted = (text: string) => (/^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const options: Readonly<Record<string, string>> = {
  remove: "--remove",
  pattern: "--pattern",
  cut: "--cut",
  patch: "--patch",
  set: "--set",
};

function optionOf(change: string): string {
  const [word = "", ...rest] = change.split(" ");
  return options[word] ? `${options[word]} ${quoted(rest.join(" "))}` : `--${change.replaceAll(" ", "-")}`;
}

function analyzeCommand({ model = "", texts = [], count, importance }: AnalyzeRequest): string {
  const parts = ["qkv analyze", quoted(model), ...texts.map((text) => `--line ${quoted(text)}`)];
  if (count !== undefined) parts.push(`--count ${count}`);
  return [...parts, `--importance ${importance}`].join(" ");
}

/** What prints the same in a terminal. */
export function commandOf(inputs: Inputs, fields: Fields): string {
  const changes = changesIn(fields["changes"]);
  if (changes.length === 0) return analyzeCommand(analyzeRequest(inputs, fields));
  const parts = ["qkv change", quoted(inputs.model)];
  parts.push(inputs.text === undefined ? `--example ${inputs.example ?? 0}` : quoted(inputs.text));
  parts.push(...changes.map(optionOf));
  if (fields["from_text"]) parts.push("--from-text", quoted(fields["from_text"]));
  if (fields["query"]) parts.push("--query", quoted(fields["query"]));
  if (fields["token"]) parts.push("--token", quoted(fields["token"]));
  return parts.join(" ");
}
