// The part of the address after "#" is the whole state of a page: "#/step?text=the+cat&Q=1,0;0,1".
// Past 1,500 characters its fields are deflated: "#/step?z=…".

import { signal } from "@preact/signals";

export type Fields = Readonly<Record<string, string>>;

/** A whole number from 0; null of anything else. */
export function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

export interface Address {
  page: string;
  fields: Fields;
}

const deflatedFrom = 1500; // characters
const longest = 200_000; // characters that are read, before and after inflating

const fieldName = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;
const pageName = /^[a-z]{1,16}(\/[a-z]{1,16})?$/;

// Characters that need no escape after "#", so that matrices stay readable.
const readable: Record<string, string> = { "%2C": ",", "%3B": ";", "%3A": ":", "%2F": "/", "%40": "@", "%20": "+" };

function escaped(value: string): string {
  const wellFormed = value.replace(/\p{Surrogate}/gu, "\ufffd"); // half a pair has no escape
  return encodeURIComponent(wellFormed).replace(/%(2C|3B|3A|2F|40|20)/g, (code) => readable[code] ?? code);
}

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

function queryOf(fields: Fields): string {
  return Object.entries(fields)
    .filter(([name]) => fieldName.test(name))
    .map(([name, value]) => `${name}=${escaped(value)}`)
    .join("&");
}

function fieldsOf(query: string): { fields: Fields; isWhole: boolean } {
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  let isWhole = true;
  for (const part of query.split("&")) {
    const at = part.indexOf("=");
    const name = part.slice(0, at);
    if (at <= 0 || !fieldName.test(name)) continue;
    const value = unescaped(part.slice(at + 1));
    if (value === null) isWhole = false;
    else fields[name] = value;
  }
  return { fields: { ...fields }, isWhole };
}

/** What follows "#", with every field written out. */
export function plainFragment({ page, fields }: Address): string {
  const query = queryOf(fields);
  return `/${page}${query ? `?${query}` : ""}`;
}

/** What follows "#", deflated where it would be long. */
export async function fragmentOf(address: Address): Promise<string> {
  const plain = plainFragment(address);
  if (plain.length <= deflatedFrom) return plain;
  return `/${address.page}?z=${toBase64Url(await through(new CompressionStream("deflate"), utf8(queryOf(address.fields))))}`;
}

/** Reads a fragment, with or without its "#". What cannot be read is left out, and the link is then not whole; never throws. */
export async function parsedFragment(fragment: string, fallbackPage: string): Promise<{ address: Address; isWhole: boolean }> {
  const text = fragment.replace(/^#/, "").slice(0, longest);
  const at = text.indexOf("?");
  const path = (at < 0 ? text : text.slice(0, at)).replace(/^\/+/, "");
  const page = pageName.test(path) ? path : fallbackPage;
  const written = fieldsOf(at < 0 ? "" : text.slice(at + 1));
  const { z } = written.fields;
  if (z === undefined) return { address: { page, fields: written.fields }, isWhole: written.isWhole };
  const query = await inflated(z);
  const { fields, isWhole } = fieldsOf(query ?? "");
  return { address: { page, fields }, isWhole: isWhole && query !== null };
}

async function inflated(text: string): Promise<string | null> {
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    return new TextDecoder().decode(await through(new DecompressionStream("deflate"), bytes));
  } catch {
    return null;
  }
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function toBase64Url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// At most `longest` bytes: a short text can inflate to a very long one.
async function through(stream: GenericTransformStream, bytes: Uint8Array): Promise<Uint8Array> {
  const reader = (new Blob([bytes as BlobPart]).stream().pipeThrough(stream) as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > longest) {
      await reader.cancel();
      throw new Error("too long");
    }
    chunks.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Where the reader is. Pages derive everything else from it. */
export const address = signal<Address>({ page: "step", fields: {} });

/** Whether the last link that was followed could be read whole. */
export const linkIsWhole = signal(true);

/** `fields` with some set, and those that are null or empty left out. */
export function withFields(fields: Fields, changes: Readonly<Record<string, string | null>>): Fields {
  const all = Object.entries({ ...fields, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== ""));
}

export type Change = "drag" | "done" | "quiet";

// While something is dragged its first change makes an entry of the history and the others replace it,
// so that Back undoes the whole drag. A quiet change (the step one is at) makes none.
let dragging = false;

export function change(changes: Readonly<Record<string, string | null>>, how: Change = "done"): void {
  move({ page: address.value.page, fields: withFields(address.value.fields, changes) }, how);
}

export function move(next: Address, how: Change = "done"): void {
  const replace = how === "quiet" || dragging;
  if (how !== "quiet") {
    dragging = how === "drag";
    linkIsWhole.value = true;
  }
  const isSame = plainFragment(next) === plainFragment(address.value);
  if (!isSame) address.value = next;
  if (isSame && (how !== "done" || replacing === null)) return;
  record(next, replace, how === "done");
}

let written = Promise.resolve();
let replacing: ReturnType<typeof setTimeout> | null = null;
let pending: Address | null = null;
const gatherFor = 120; // milliseconds

// Browsers take only so many changes of the address a second: replacements are gathered until something is done.
function record(next: Address, replace: boolean, isDone: boolean): void {
  if (!replace && replacing !== null) write("replaceState"); // what stood there before keeps its last state
  pending = next;
  if (!replace) write("pushState");
  else if (isDone) write("replaceState");
  else replacing ??= setTimeout(() => write("replaceState"), gatherFor);
}

function write(how: "pushState" | "replaceState"): void {
  if (replacing !== null) clearTimeout(replacing);
  replacing = null;
  const next = pending;
  if (!next || typeof history === "undefined") return;
  written = written.then(async () => history[how](null, "", `#${await fragmentOf(next)}`));
}

/** Reads the address now and whenever the reader goes back, forward or types another one. */
export async function followAddress(fallbackPage: string): Promise<void> {
  const follow = async () => {
    dragging = false;
    if (replacing !== null) clearTimeout(replacing); // it was meant for the entry that was left
    replacing = null;
    const read = await parsedFragment(location.hash, fallbackPage);
    address.value = read.address;
    linkIsWhole.value = read.isWhole;
  };
  addEventListener("popstate", () => void follow());
  addEventListener("hashchange", () => void follow());
  await follow();
}
