// What the address says of the page Explain: the fields of the engine's own question, by their names.

import type { Fields } from "../../app/address";
import { fields as described, type ExplainRequest } from "../../engine/messages";

/** README's sentence. */
export const firstText = "The cat sat down";

const inputs = ["text", "q", "k", "v", "npz", "worked", "example", "picture"];

export function explainRequest(fields: Fields): ExplainRequest {
  const request: Record<string, string | number | boolean> = {};
  for (const { name, type } of described.explain ?? []) {
    const text = fields[name];
    if (text === undefined) continue;
    if (type === "true or false") request[name] = text === "true";
    else request[name] = type === "text" || !Number.isFinite(Number(text)) ? text : Number(text);
  }
  if (!inputs.some((name) => fields[name] !== undefined)) request["text"] = firstText;
  return request as ExplainRequest;
}

/** What `qkv explain` takes to print the same. */
export function explainCommand(request: ExplainRequest): string {
  const quoted = (value: string | number) =>
    /^[\w.,/-]+$/.test(String(value)) ? String(value) : `'${String(value).replaceAll("'", "'\\''")}'`;
  const { text, head, layer, captions, picture, match, ...others } = request;
  const parts = ["qkv", match ? "match" : "explain"];
  if (text !== undefined) parts.push(quoted(text));
  else if (picture !== undefined) parts.push(...picture.split("\n").map(quoted));
  if (match) parts.push(...(captions ?? "").split("\n").map(quoted));
  else if (captions !== undefined) parts.push("--caption", quoted(captions));
  if (head !== undefined) parts.push("--head", `${layer ?? 0}.${head}`);
  else if (layer !== undefined) parts.push("--layer", String(layer));
  for (const [name, value] of Object.entries(others)) {
    const option = `--${name.replaceAll("_", "-")}`;
    if (value === true) parts.push(option);
    else if (value !== false && value !== undefined) parts.push(`${option}=${quoted(value)}`);
  }
  return parts.join(" ");
}
