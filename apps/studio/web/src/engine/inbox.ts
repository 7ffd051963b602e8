// What comes for one question, as a stream of bytes for who reads it.

import type { OfQuestion } from "../worker/protocol";
import { EngineGone } from "./errors";

export class Inbox {
  private readonly messages: OfQuestion[] = [];
  private wake = () => {};

  readonly take = (message: OfQuestion): void => {
    this.messages.push(message);
    this.wake();
  };

  /** Until the question is done, has failed, or is aborted, which `onAbort` is told. */
  async *read(signal: AbortSignal, onAbort: () => void): AsyncIterable<Uint8Array> {
    const stop = () => {
      onAbort();
      this.wake();
    };
    signal.addEventListener("abort", stop);
    try {
      for (;;) {
        signal.throwIfAborted();
        const message = this.messages.shift();
        if (!message) await new Promise<void>((resume) => (this.wake = resume));
        else if (message.failed !== undefined) throw new EngineGone(message.failed);
        else if (message.bytes) yield message.bytes;
        else if (message.done) return;
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }
}
