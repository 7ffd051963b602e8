// What the address says of the page Explain: the fields of the engine's own question, by their names. It asks
// `explain`, or where there are pictures to hold captions against, one a line, `match`.

import type { Fields } from "../../app/address";
import { fields as described, type ExplainRequest, type MatchRequest } from "../../engine/messages";

/** README's sentence. */
export const firstText = "The cat sat down";

const inputs = ["text", "q", "k", "v", "npz", "worked", "example", "picture", "sound"];

/** Texts of an address, one a line. */
const lines = (text: string) => text.split("\n").filter((line) => line !== "");

/** All steps, as they are shown: whoever asks for a query or answers alone gets no others. */
export function explainRequest(fields: Fields): ExplainRequest {
  const request: Record<string, string | number | boolean | string[]> = {};
  for (const { name, type } of described.explain ?? []) {
    const text = fields[name];
    if (text === undefined) continue;
    if (type === "true or false") request[name] = text === "true";
    else if (name === "captions") request[name] = lines(text);
    else if (type === "list of texts") request[name] = text === "true" ? ["all"] : text.split(",");
    else request[name] = type === "text" || !Number.isFinite(Number(text)) ? text : Number(text);
  }
  if (!inputs.some((name) => fields[name] !== undefined)) request["text"] = firstText;
  if (request["model"] !== undefined) delete request["all"]; // of a model every step is told
  else if (asksForParts(request)) request["all"] ??= "full";
  request["numbers"] ??= false;
  return request as ExplainRequest;
}

function asksForParts({ query, why, step }: ExplainRequest): boolean {
  return Boolean(query || why) && step === undefined;
}

/** Null for an address that holds no pictures against captions. */
export function matchRequest(fields: Fields): MatchRequest | null {
  const { model, images, captions } = fields;
  if (images === undefined) return null;
  const request = { images: lines(images), captions: lines(captions ?? ""), maps: true, numbers: false };
  return model === undefined ? request : { ...request, model };
}

const quoted = (value: string | number) =>
  /^[\w.,/-]+$/.test(String(value)) ? String(value) : `'${String(value).replaceAll("'", "'\\''")}'`;

/** What `qkv match` takes to print the same. */
export function matchCommand({ model, images = [], captions = [] }: MatchRequest): string {
  const parts = ["qkv match", ...[...images, ...captions].map(quoted), "--maps"];
  if (model !== undefined) parts.push(`--model=${quoted(model)}`);
  return parts.join(" ");
}

/** What `qkv explain` takes to print the same. */
export function explainCommand(request: ExplainRequest): string {
  const { text, captions, picture, numbers: _, why, ...others } = request;
  const parts = ["qkv explain"];
  if (text !== undefined) parts.push(quoted(text));
  else if (picture !== undefined) parts.push(quoted(picture));
  for (const caption of captions ?? []) parts.push("--caption", quoted(caption));
  if (why) parts.push(why.includes("all") ? "--why" : `--why=${why.join(",")}`);
  for (const [name, value] of Object.entries(others)) {
    const option = `--${name.replaceAll("_", "-")}`;
    if (value === true) parts.push(option);
    else if (value !== false && value !== undefined) parts.push(`${option}=${quoted(value)}`);
  }
  if (request.model !== undefined && asksForParts(request)) parts.push("--all=full");
  return parts.join(" ");
}
