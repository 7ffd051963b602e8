// Bytes that are written into a page or lie beside it.

import { fromBase85 } from "../engine/base85";
import type { Source } from "./protocol";

/** Throws an Error that names the address of what cannot be fetched. */
export async function bytesOf(source: Source): Promise<Uint8Array<ArrayBuffer>> {
  return unpacked("base85" in source ? fromBase85(source.base85) : await fetched(source.url));
}

async function fetched(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: expected the engine's bytes, got the status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

// A server that knows the ending .gz may have unpacked the bytes on the way.
async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (!isCompressed) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
