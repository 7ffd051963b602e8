// One question, one reply: whatever stands behind (a server, a Worker, replies frozen into the page), pages ask here.

import { EngineError } from "./errors";
import { FrameReader, frameBytes, frameKind, joined } from "./frames";
import type { Questions } from "./messages";
import { withTensors } from "./tensor";

export interface Progress {
  what: string;
  done: number;
  total: number;
}

export interface AskOptions {
  signal?: AbortSignal;
  progress?: (progress: Progress) => void;
  /** Asks again, although the same was asked before: of what changes by itself. */
  anew?: boolean;
  /** False where who asks keeps the reply itself. */
  keep?: boolean;
}

export interface Transport {
  /** Where the work is done, for the status line: "qkv on this computer". */
  readonly where: string;
  /** True where WebAssembly in the page computes, on one thread. */
  readonly isInPage?: boolean;
  /** True where replies that the page carries with it are all that there is. */
  readonly isFrozen?: true;
  /** What it carries with it, "NAME {request}" and frames. */
  readonly replies?: ReadonlyMap<string, Uint8Array>;
  /** False for a request that will surely not be answered: pages offer no way to it. */
  answers(name: string, body: string): boolean;
  /** Bytes of frames, in any cuts. Aborting the signal ends the work behind it. */
  send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

export type Request<Q extends keyof Questions> = Questions[Q]["request"];
export type Reply<Q extends keyof Questions> = Questions[Q]["reply"];

/** JSON with sorted keys and without what is undefined: equal requests give equal texts. */
export function canonical(name: string, request: object): string {
  const given = Object.entries(request).filter(([, value]) => value !== undefined && value !== null);
  given.sort(([a], [b]) => (a < b ? -1 : 1));
  return `${name} ${JSON.stringify(Object.fromEntries(given))}`;
}

const keptReplies = 300;
const keptBytes = 64 * 1024 * 1024;

interface Kept {
  reply: unknown;
  frames: Uint8Array;
}

export class Engine {
  /** Milliseconds that the last reply took which was not known before. */
  lastTook = 0;
  private readonly kept = new Map<string, Kept>();
  private bytes = 0;

  constructor(readonly transport: Transport) {}

  /** Whether it computes what it has not yet replied. */
  get isLive(): boolean {
    return this.transport.isFrozen !== true;
  }

  /** Throws EngineError for a refused request, EngineGone if nobody answers, and a DOMException "AbortError". */
  async ask<Q extends keyof Questions>(name: Q, request: Request<Q>, options: AskOptions = {}): Promise<Reply<Q>> {
    const key = canonical(name, request);
    const known = options.anew ? undefined : this.kept.get(key);
    if (known) {
      this.kept.delete(key); // the map's order is the order of use
      this.kept.set(key, known);
      return known.reply as Reply<Q>;
    }
    const signal = options.signal ?? new AbortController().signal;
    const started = performance.now();
    const { reply, frames } = await this.read(name, key.slice(name.length + 1), signal, options.progress);
    this.lastTook = performance.now() - started;
    if (options.keep !== false) this.keep(key, { reply, frames });
    return reply as Reply<Q>;
  }

  answers<Q extends keyof Questions>(name: Q, request: Request<Q>): boolean {
    return this.transport.answers(name, canonical(name, request).slice(name.length + 1));
  }

  /** What there is to be replied without asking: "NAME {request}" and the frames of the reply. */
  get replies(): [string, Uint8Array][] {
    const all = new Map(this.transport.replies ?? []);
    if (!this.isLive) return [...all]; // what was asked is in there, or follows from it
    for (const [key, { frames }] of this.kept) all.set(key, frames);
    return [...all];
  }

  private async read(name: string, body: string, signal: AbortSignal, progress?: (progress: Progress) => void) {
    const reader = new FrameReader();
    let json: unknown;
    const kept: Uint8Array[] = [];
    let block = new Uint8Array();
    for await (const chunk of this.transport.send(name, body, signal)) {
      signal.throwIfAborted();
      for (const { kind, payload } of reader.push(chunk)) {
        if (kind === frameKind.reply || kind === frameKind.block) kept.push(frameBytes(kind, payload));
        if (kind === frameKind.block) block = Uint8Array.from(payload);
        else if (kind === frameKind.progress) progress?.(parsed(payload) as Progress);
        else if (kind === frameKind.error) throw refusal(parsed(payload));
        else json = parsed(payload);
      }
    }
    reader.end();
    if (json === undefined) throw new Error(`the reply to ${name} has no frame of kind 2`);
    return { reply: withTensors(json, block), frames: joined(kept) };
  }

  private keep(key: string, kept: Kept): void {
    this.bytes -= this.kept.get(key)?.frames.length ?? 0;
    this.kept.set(key, kept);
    this.bytes += kept.frames.length;
    for (const [oldest, { frames }] of this.kept) {
      if (this.kept.size <= keptReplies && this.bytes <= keptBytes) break;
      if (oldest === key) break;
      this.kept.delete(oldest);
      this.bytes -= frames.length;
    }
  }
}

function parsed(payload: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(payload));
}

function refusal(json: unknown): EngineError {
  const { message, field, column } = json as { message: string; field?: string; column?: number | null };
  return new EngineError(message, field ?? "", column ?? null);
}
