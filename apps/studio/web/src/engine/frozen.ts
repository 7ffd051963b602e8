// Replies frozen into the page. The element #frozen holds, gzipped and in base 85, of each reply: u32 little-endian the
// bytes of its name ("NAME {request}") and of its frame with JSON, the words of its packed blocks and their bytes; then
// these three. What is packed is the frame of the blocks.

import { base85, fromBase85 } from "./base85";
import type { Transport } from "./engine";
import { EngineError } from "./errors";
import { frameKind, joined } from "./frames";
import { packedBlocks, unpackedBlocks } from "./packed_blocks";

export class Frozen implements Transport {
  readonly where = "computed when this page was made, by qkv";
  readonly isFrozen = true;

  constructor(readonly replies: ReadonlyMap<string, Uint8Array>) {}

  answers(name: string, body: string): boolean {
    return this.replies.has(`${name} ${body}`);
  }

  async *send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    const frames = this.replies.get(`${name} ${body}`);
    if (frames === undefined) throw new EngineError(this.refusal(name));
    yield frames;
  }

  private refusal(name: string): string {
    const others = [...this.replies.keys()].filter((key) => key.startsWith(`${name} `)).length;
    const holds = others === 1 ? "one reply" : `${others} replies`;
    return (
      `This page is a picture of one moment: it holds ${holds} of the kind “${name}”, not this one. ` +
      "`qkv view` opens the same page with everything to edit."
    );
  }
}

const headBytes = 16;

/** Where the frame with blocks begins; the end where there is none. */
function blocksIn(frames: Uint8Array): number {
  const view = new DataView(frames.buffer, frames.byteOffset, frames.byteLength);
  for (let at = 0; at < frames.length; at += 8 + Math.ceil(view.getUint32(at + 4, true) / 8) * 8) {
    if (view.getUint32(at, true) === frameKind.block) return at;
  }
  return frames.length;
}

/** The replies in the element's text. Throws if they are not whole. */
export async function frozenReplies(text: string): Promise<Map<string, Uint8Array>> {
  const bytes = await through(new DecompressionStream("gzip"), fromBase85(text.trim()));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const replies = new Map<string, Uint8Array>();
  for (let at = 0; at < bytes.length; ) {
    const begin = at + headBytes;
    const head = (n: number) => (begin <= bytes.length ? view.getUint32(at + 4 * n, true) : Infinity);
    const nameEnd = begin + head(0);
    const jsonEnd = nameEnd + head(1);
    const end = jsonEnd + head(3);
    if (end > bytes.length) throw new Error("the element #frozen ends inside a reply");
    const blocks = unpackedBlocks({ words: head(2), bytes: bytes.subarray(jsonEnd, end) });
    const frames = joined([bytes.subarray(nameEnd, jsonEnd), blocks]);
    replies.set(new TextDecoder().decode(bytes.subarray(begin, nameEnd)), frames);
    at = end;
  }
  return replies;
}

/** The text of the element that holds these replies. */
export async function frozenText(replies: Iterable<readonly [string, Uint8Array]>): Promise<string> {
  const parts: Uint8Array[] = [];
  for (const [key, frames] of replies) {
    const name = new TextEncoder().encode(key);
    const blocks = blocksIn(frames);
    const packed = packedBlocks(frames.subarray(blocks));
    const head = new Uint8Array(headBytes);
    [name.length, blocks, packed.words, packed.bytes.length].forEach((number, n) => {
      new DataView(head.buffer).setUint32(4 * n, number, true);
    });
    parts.push(head, name, frames.subarray(0, blocks), packed.bytes);
  }
  return base85(await gzipped(...parts));
}

export function gzipped(...parts: Uint8Array[]): Promise<Uint8Array> {
  return through(new CompressionStream("gzip"), ...parts);
}

async function through(stream: GenericTransformStream, ...parts: Uint8Array[]): Promise<Uint8Array> {
  const made = new Blob(parts as BlobPart[]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(made as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
}
