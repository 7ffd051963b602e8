// Where the studio opens when the address does not say: what the command named.

import type { AboutReply } from "../engine/messages";
import { withFields, type Address } from "./address";

type Named = Pick<AboutReply, "model" | "text" | "mask" | "file">;

/** `pages` are those there are; the first is the one for whoever named nothing. */
export function opening({ model, text, mask, file }: Named, pages: readonly string[]): Address {
  if (file && pages.includes("far")) return { page: "far", fields: withFields({}, { model, mask }) };
  if (model) return { page: "heads", fields: withFields({}, { model, text }) };
  if (mask) return { page: "patterns/mask", fields: { mask } };
  return { page: pages[0] ?? "", fields: withFields({}, { text }) };
}
