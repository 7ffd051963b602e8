// Questions to an engine in a classic Worker of this page. Both sides post objects:
//   page → Worker  {id, name, body}             a question; body is the JSON of the request
//   page → Worker  {id, cancel: true}           nobody waits for it any more
//   Worker → page  {id, bytes: Uint8Array}      frames, in any cuts (the buffer is transferred)
//   Worker → page  {id, done: true}             no more bytes for this question
//   Worker → page  {id, failed: "why"}          the Worker cannot go on
// The bytes are those that the server would send.

import type { Transport } from "./engine";
import { EngineGone } from "./errors";

export interface WorkerLike {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "error", listener: (event: { message?: string }) => void): void;
}

interface FromWorker {
  id: number;
  bytes?: Uint8Array;
  done?: true;
  failed?: string;
}

interface Waiting {
  take(message: FromWorker): void;
}

export class InWorker implements Transport {
  readonly where = "qkv in this page (WebAssembly)";
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  constructor(private readonly worker: WorkerLike) {
    worker.addEventListener("message", (event) => {
      const message = event.data as FromWorker;
      this.waiting.get(message.id)?.take(message);
    });
    worker.addEventListener("error", (event) => {
      const failed = `The engine in this page stopped: ${event.message ?? "no reason given"}. Reload the page.`;
      for (const [id, one] of this.waiting) one.take({ id, failed });
    });
  }

  answers(): boolean {
    return true;
  }

  async *send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    const id = ++this.lastId;
    const messages: FromWorker[] = [];
    let wake = () => {};
    const onAbort = () => {
      this.worker.postMessage({ id, cancel: true });
      wake();
    };
    this.waiting.set(id, {
      take(message) {
        messages.push(message);
        wake();
      },
    });
    signal.addEventListener("abort", onAbort);
    this.worker.postMessage({ id, name, body });
    try {
      for (;;) {
        signal.throwIfAborted();
        const message = messages.shift();
        if (!message) await new Promise<void>((resume) => (wake = resume));
        else if (message.failed !== undefined) throw new EngineGone(message.failed);
        else if (message.bytes) yield message.bytes;
        else if (message.done) return;
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.waiting.delete(id);
    }
  }
}
