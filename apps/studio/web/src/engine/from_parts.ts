// Replies about a head that a file does not hold as they are, but its q and k, from which they follow.

import type { Transport } from "./engine";
import { FrameReader, frameBytes, frameKind, joined } from "./frames";
import type { Frozen } from "./frozen";
import { headOf, pairOf } from "./head_parts";
import type { HeadPartsReply, PairRequest } from "./messages";
import { withoutTensors, withTensors } from "./tensor";

export class FromParts implements Transport {
  readonly isFrozen = true;
  private last: { name: string; parts: HeadPartsReply } | null = null;

  constructor(private readonly frozen: Frozen) {}

  get where(): string {
    return this.frozen.where;
  }

  get replies(): ReadonlyMap<string, Uint8Array> {
    return this.frozen.replies;
  }

  answers(name: string, body: string): boolean {
    return this.frozen.answers(name, body) || this.framesBehind(name, body) !== null;
  }

  async *send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const behind = this.frozen.answers(name, body) ? null : this.framesBehind(name, body);
    if (behind === null) return yield* this.frozen.send(name, body, signal);
    if (this.last?.name !== behind.name) this.last = { name: behind.name, parts: partsIn(behind.frames) };
    const request = JSON.parse(body) as PairRequest;
    yield framesOf(name === "head" ? headOf(this.last.parts, request) : pairOf(this.last.parts, request));
  }

  /** The parts of the head that is asked about; null for any other question. */
  private framesBehind(name: string, body: string): { name: string; frames: Uint8Array } | null {
    if (name !== "head" && name !== "pair") return null;
    const { hide_special: _, query: __, key: ___, ...head } = JSON.parse(body) as PairRequest;
    const parts = `head_parts ${JSON.stringify(head)}`;
    const frames = this.frozen.replies.get(parts);
    return frames ? { name: parts, frames } : null;
  }
}

function partsIn(frames: Uint8Array): HeadPartsReply {
  const read = new FrameReader().push(frames);
  const payload = (kind: number) => read.find((frame) => frame.kind === kind)?.payload ?? new Uint8Array();
  const json: unknown = JSON.parse(new TextDecoder().decode(payload(frameKind.reply)));
  return withTensors(json, payload(frameKind.block)) as HeadPartsReply;
}

function framesOf(reply: object): Uint8Array {
  const { json, block } = withoutTensors(reply);
  const text = new TextEncoder().encode(JSON.stringify(json));
  return joined([frameBytes(frameKind.reply, text), frameBytes(frameKind.block, block)]);
}
