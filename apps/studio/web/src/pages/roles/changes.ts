// The list of changes to a model, as the address and the request write it: "remove 1.0; cut 1.0=7:2".

import { withMinus } from "../../drawing/numbers";
import type { HeadAt } from "../heads/state";

export type Pattern = "uniform" | "previous" | "self" | "text" | `${number}`;

export type Change =
  | { kind: "remove"; head: string }
  | { kind: "pattern"; head: string; as: string }
  | { kind: "cut"; head: string | null; query: number; key: number } // null: in every head
  | { kind: "patch"; value: string; place: number | null }
  | { kind: "set"; head: string; number: string; to: string } // a number of the head's q, k, v or out: "k:2,5"
  | { kind: "freeze" };

/** As changes name a head: "1.0", "cross:1.0". */
export function designation({ site, layer, head }: HeadAt): string {
  return site === "tokens" ? `${layer}.${head}` : `${site}:${layer}.${head}`;
}

export function changesIn(text: string | undefined): string[] {
  return (text ?? "")
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

export function written(changes: readonly string[]): string {
  return changes.join("; ");
}

/** null for a text of another form: the engine then says what it expected. */
export function parsedChange(text: string): Change | null {
  const [word = "", rest = ""] = [text.slice(0, text.indexOf(" ")), text.slice(text.indexOf(" ") + 1).trim()];
  if (text === "freeze norms") return { kind: "freeze" };
  if (word === "remove") return { kind: "remove", head: rest };
  if (word === "pattern") {
    const [head = "", as = ""] = rest.split("=");
    return as ? { kind: "pattern", head, as } : null;
  }
  if (word === "cut") {
    const match = /^(?:(.+)=)?(\d+):(\d+)$/.exec(rest);
    return match ? { kind: "cut", head: match[1] ?? null, query: Number(match[2]), key: Number(match[3]) } : null;
  }
  if (word === "set") {
    const match = /^(.+)=((?:q|k|v|out):\d+,\d+):(.+)$/.exec(rest);
    return match ? { kind: "set", head: match[1]!, number: match[2]!, to: match[3]! } : null;
  }
  if (word === "patch") {
    const match = /^(.+?)(?:@(\d+))?$/.exec(rest);
    return match ? { kind: "patch", value: match[1]!, place: match[2] === undefined ? null : Number(match[2]) } : null;
  }
  return null;
}

export function changeText(change: Change): string {
  switch (change.kind) {
    case "remove":
      return `remove ${change.head}`;
    case "pattern":
      return `pattern ${change.head}=${change.as}`;
    case "cut":
      return `cut ${change.head === null ? "" : `${change.head}=`}${change.query}:${change.key}`;
    case "patch":
      return `patch ${change.value}${change.place === null ? "" : `@${change.place}`}`;
    case "set":
      return `set ${change.head}=${change.number}:${change.to}`;
    case "freeze":
      return "freeze norms";
  }
}

/** `change` taken back if it is there, added if not; of a head's patterns the new one stays. */
export function toggled(changes: readonly string[], change: Change): string[] {
  const text = changeText(change);
  if (changes.includes(text)) return changes.filter((one) => one !== text);
  const others = changes.filter((one) => {
    const known = parsedChange(one);
    return !(change.kind === "pattern" && known?.kind === "pattern" && known.head === change.head);
  });
  return [...others, text];
}

/** Those that hold for any text: no cuts, no patches, and no numbers at a place. */
export function withoutPlaces(changes: readonly string[]): string[] {
  return changes.filter((one) => {
    const known = parsedChange(one);
    const needsText = known?.kind === "pattern" && known.as === "text";
    return known?.kind !== "cut" && known?.kind !== "patch" && known?.kind !== "set" && !needsText && !isAtKey(known);
  });
}

function isAtKey(change: Change | null): boolean {
  return change?.kind === "pattern" && /^\d+$/.test(change.as);
}

export function readsOtherText(changes: readonly string[]): boolean {
  return changes.some((one) => {
    const known = parsedChange(one);
    return known?.kind === "patch" || (known?.kind === "pattern" && known.as === "text");
  });
}

export interface Edge {
  query: number;
  key: number;
  /** In every head, or in this one alone. */
  everywhere: boolean;
}

/** The edges that are cut in this head. */
export function cutsOf(changes: readonly string[], head: string): Edge[] {
  return changes.flatMap((one) => {
    const known = parsedChange(one);
    if (known?.kind !== "cut" || !covers(known.head, head)) return [];
    return [{ query: known.query, key: known.key, everywhere: known.head !== head }];
  });
}

// "1.*" and "*.*" stand for all heads of a layer, of the model; so does no head at all, for those of the tokens.
function covers(pattern: string | null, head: string): boolean {
  if (pattern === null) return !head.includes(":");
  const form = pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "\\d+");
  return new RegExp(`^${form}$`).test(head);
}

export function isRemoved(changes: readonly string[], head: string): boolean {
  return changes.some((one) => {
    const known = parsedChange(one);
    return known?.kind === "remove" && covers(known.head, head);
  });
}

export function patternOf(changes: readonly string[], head: string): string | null {
  for (const one of changes) {
    const known = parsedChange(one);
    if (known?.kind === "pattern" && covers(known.head, head)) return known.as;
  }
  return null;
}

export interface Words {
  queries: readonly string[];
  keys: readonly string[];
}

const patternWords: Readonly<Record<string, string>> = {
  uniform: "reads all keys evenly",
  previous: "reads the key before",
  self: "reads its own key",
  text: "reads as in the other text",
};

/** For its chip: "head 1.0 removed", "b₇ no longer sees c₂ in head 1.0". */
export function inWords(text: string, { queries, keys }: Words): string {
  const change = parsedChange(text);
  const at = (words: readonly string[], place: number) =>
    words[place] === undefined ? String(place) : `${words[place]}${lowered(place)}`;
  switch (change?.kind) {
    case "remove":
      return `${headWords(change.head)} removed`;
    case "pattern":
      return `${headWords(change.head)} ${patternWords[change.as] ?? `reads only ${at(keys, Number(change.as))}`}`;
    case "cut":
      return cutWords(at(queries, change.query), at(keys, change.key), change.head);
    case "patch":
      return patchWords(change.value, change.place === null ? "" : ` at ${at(queries, change.place)}`);
    case "set":
      return `${numberWords(change.number, queries, keys)} of ${headWords(change.head)} is ${withMinus(change.to)}`;
    case "freeze":
      return "norms frozen";
    default:
      return text;
  }
}

// "k:2,5": number 6 of k, of the token at place 2.
function numberWords(number: string, queries: readonly string[], keys: readonly string[]): string {
  const [, part = "", place = "", column = ""] = /^(\w+):(\d+),(\d+)$/.exec(number) ?? [];
  const words = part === "q" || part === "out" ? queries : keys;
  const token = words[Number(place)];
  const at = token === undefined ? place : `${token}${lowered(Number(place))}`;
  return `number ${Number(column) + 1} of ${part === "out" ? "the output" : part} of ${at}`;
}

function cutWords(query: string, key: string, head: string | null): string {
  return `${query} no longer sees ${key}, ${head === null ? "in every head" : headWords(head)}`;
}

function patchWords(value: string, place: string): string {
  return `${valueWords(value)}${place} from the other text`;
}

function headWords(head: string): string {
  const [, site, layer] = /^(?:([a-z]+):)?(\d+|\*)\.\*$/.exec(head) ?? [];
  if (layer === undefined) return `head ${head.replace(":", " ")}`;
  return `all ${site ? `${site} ` : ""}heads${layer === "*" ? "" : ` of layer ${layer}`}`;
}

function valueWords(value: string): string {
  const [, stack, layer, part, head] =
    /^(encoder\.|decoder\.)?blocks\.(\d+)(?:\.(attn|cross)\.heads\.(\d+))?$/.exec(value) ?? [];
  if (layer === undefined) return value;
  const site = stack === "encoder." ? "source " : part === "cross" ? "cross " : "";
  return head === undefined ? `what ${site}layer ${layer} gave` : `what head ${site}${layer}.${head} gives,`;
}

const digits = "₀₁₂₃₄₅₆₇₈₉";

/** A place as a small number below its word, from 0 as everywhere in addresses. */
export function lowered(place: number): string {
  return [...String(place)].map((digit) => digits[Number(digit)]).join("");
}
