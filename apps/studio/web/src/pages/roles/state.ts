// What the address says of the page Roles, and the questions that follow from it.

import type { Fields } from "../../app/address";
import type { AboutReply, ChangeRequest, HeadRequest, RolesRequest } from "../../engine/messages";
import { changesIn, withoutPlaces, written } from "./changes";
import { textOfModel } from "./examples";

export type FieldChanges = Record<string, string | null>;

export interface HeadName {
  site: string;
  layer: number;
  head: number;
}

/** The model, and what it reads: a text, or a held-out example of its task. */
export interface Inputs {
  model: string;
  text?: string;
  example?: number;
}

const headForm = /^([a-z_]+)\.(\d+)\.(\d+)$/;

/** "tokens.1.0" */
export function parsedHead(text: string | undefined): HeadName | null {
  const match = headForm.exec(text ?? "");
  return match ? { site: match[1]!, layer: Number(match[2]), head: Number(match[3]) } : null;
}

export function headField({ site, layer, head }: HeadName): string {
  return `${site}.${layer}.${head}`;
}

/** The value that a layer of this head's stack hands on, by its name in a trace. */
export function stateName({ site }: HeadName, layer: number, hasSource: boolean): string {
  const stack = hasSource ? (site === "source" ? "encoder." : "decoder.") : "";
  return `${stack}blocks.${layer}`;
}

/** What the head hands on, before the heads are mixed. */
export function headResultName(head: HeadName, hasSource: boolean): string {
  return `${stateName(head, head.layer, hasSource)}.${head.site === "cross" ? "cross" : "attn"}.heads.${head.head}`;
}

export function isSameHead(a: HeadName | null, b: HeadName | null): boolean {
  return a !== null && b !== null && headField(a) === headField(b);
}

function count(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** What the command opened holds until the address says otherwise. */
export function inputsOf(fields: Fields, about: Pick<AboutReply, "model" | "text" | "models"> | null): Inputs {
  const model = fields["model"] ?? (about?.model || "induction");
  const example = count(fields["example"]);
  if (fields["text"]) return { model, text: fields["text"] };
  if (example !== null) return { model, example };
  if (about?.text && about.model === model) return { model, text: about.text };
  const text = textOfModel(model);
  if (text !== null) return { model, text };
  const isOfBox = about?.models.some((one) => one.name === model) ?? false;
  return isOfBox ? { model, example: 0 } : { model, text: "The cat sat on the mat." };
}

export function rolesRequest(inputs: Inputs, fields: Fields): RolesRequest {
  return fields["texts"] ? { model: inputs.model, texts: fields["texts"] } : { model: inputs.model };
}

export function headRequest(inputs: Inputs, head: HeadName): HeadRequest {
  return { ...inputs, ...head };
}

export function changeRequest(inputs: Inputs, fields: Fields): ChangeRequest {
  const request: ChangeRequest = { ...inputs, changes: written(changesIn(fields["changes"])) };
  for (const name of ["from_text", "query", "token"] as const) if (fields[name]) request[name] = fields[name];
  return request;
}

/** Another text: a place of the old one means nothing in it. */
export function textChanges(fields: Fields, text: string): FieldChanges {
  return { text, example: null, query: null, token: null, from_text: null, changes: keptChanges(fields) };
}

export function exampleChanges(fields: Fields, example: number): FieldChanges {
  return { ...textChanges(fields, ""), text: null, example: String(example) };
}

function keptChanges(fields: Fields): string {
  return written(withoutPlaces(changesIn(fields["changes"])));
}

const quoted = (text: string) => (/^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const options: Readonly<Record<string, string>> = { remove: "--remove", pattern: "--pattern", cut: "--cut", patch: "--patch" };

function optionOf(change: string): string {
  const [word = "", ...rest] = change.split(" ");
  return options[word] ? `${options[word]} ${quoted(rest.join(" "))}` : `--${change.replaceAll(" ", "-")}`;
}

/** What prints the same in a terminal. */
export function commandOf(inputs: Inputs, fields: Fields): string {
  const changes = changesIn(fields["changes"]);
  if (changes.length === 0) return `qkv analyze ${quoted(inputs.model)}`;
  const parts = ["qkv change", quoted(inputs.model)];
  parts.push(inputs.text === undefined ? `--example ${inputs.example ?? 0}` : quoted(inputs.text));
  parts.push(...changes.map(optionOf));
  if (fields["from_text"]) parts.push("--from-text", quoted(fields["from_text"]));
  if (fields["query"]) parts.push("--query", quoted(fields["query"]));
  if (fields["token"]) parts.push("--token", quoted(fields["token"]));
  return parts.join(" ");
}
