// What the address says of the page Explain: the fields of the engine's own question, by their names.

import type { Fields } from "../../app/address";
import { fields as described, type ExplainRequest } from "../../engine/messages";

/** README's sentence. */
export const firstText = "The cat sat down";

const inputs = ["text", "q", "k", "v", "npz", "worked", "example", "picture"];

/** All steps, as they are shown: whoever asks for a query or answers alone gets no others. */
export function explainRequest(fields: Fields): ExplainRequest {
  const request: Record<string, string | number | boolean | string[]> = {};
  for (const { name, type } of described.explain ?? []) {
    const text = fields[name];
    if (text === undefined) continue;
    if (type === "true or false") request[name] = text === "true";
    else if (type === "list of texts") request[name] = text === "true" ? ["all"] : text.split(",");
    else request[name] = type === "text" || !Number.isFinite(Number(text)) ? text : Number(text);
  }
  if (!inputs.some((name) => fields[name] !== undefined)) request["text"] = firstText;
  if ((request["query"] || request["why"]) && request["step"] === undefined) request["all"] ??= "full";
  request["numbers"] ??= false;
  return request as ExplainRequest;
}

/** What `qkv explain` takes to print the same. */
export function explainCommand(request: ExplainRequest): string {
  const quoted = (value: string | number) =>
    /^[\w.,/-]+$/.test(String(value)) ? String(value) : `'${String(value).replaceAll("'", "'\\''")}'`;
  const { text, captions, picture, match, numbers: _, why, ...others } = request;
  const parts = ["qkv", match ? "match" : "explain"];
  if (text !== undefined) parts.push(quoted(text));
  else if (picture !== undefined) parts.push(...picture.split("\n").map(quoted));
  if (match) parts.push(...(captions ?? "").split("\n").map(quoted));
  else if (captions !== undefined) parts.push("--caption", quoted(captions));
  if (why) parts.push(why.includes("all") ? "--why" : `--why=${why.join(",")}`);
  for (const [name, value] of Object.entries(others)) {
    const option = `--${name.replaceAll("_", "-")}`;
    if (value === true) parts.push(option);
    else if (value !== false && value !== undefined) parts.push(`${option}=${quoted(value)}`);
  }
  return parts.join(" ");
}
