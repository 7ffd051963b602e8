// Questions to an engine in a Worker of this page; src/worker/protocol.ts says what both sides post. What is computed in
// the Worker cannot be stopped from outside: a Worker that works too long on what nobody waits for is ended, and another
// one is started with the engine that the first has compiled, and asked what is still waited for.

import type { FromWorker, OfQuestion } from "../worker/protocol";
import type { Transport } from "./engine";
import { Inbox } from "./inbox";

export interface WorkerLike {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "error", listener: (event: { message?: string }) => void): void;
  terminate(): void;
}

const patience = 100; // milliseconds for what nobody waits for

interface Question {
  id: number;
  name: string;
  body: string;
  take(message: OfQuestion): void;
  isAborted: boolean;
}

export class InWorker implements Transport {
  readonly where = "qkv in this page (WebAssembly)";
  readonly isInPage = true;
  private worker: WorkerLike;
  /** Those that the Worker has not ended, in the order in which it answers them. */
  private readonly asked = new Map<number, Question>();
  private lastId = 0;
  private compiled: WebAssembly.Module | null = null;

  /** `start` makes a Worker that knows where its engine is, or has it compiled already. */
  constructor(private readonly start: (compiled: WebAssembly.Module | null) => WorkerLike) {
    this.worker = this.started();
  }

  answers(name: string): boolean {
    return name !== "train"; // a page has no directory to write to
  }

  send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    const id = ++this.lastId;
    const inbox = new Inbox();
    const question: Question = { id, name, body, take: inbox.take, isAborted: false };
    this.asked.set(id, question);
    this.worker.postMessage({ id, name, body });
    return inbox.read(signal, () => this.abort(question));
  }

  private started(): WorkerLike {
    const worker = this.start(this.compiled);
    worker.addEventListener("message", (event) => {
      const message = event.data as FromWorker;
      if ("module" in message) {
        this.compiled = message.module;
        return;
      }
      const question = this.asked.get(message.id);
      if (message.done || message.failed !== undefined) this.asked.delete(message.id);
      question?.take(message);
    });
    worker.addEventListener("error", (event) => {
      const failed = `The engine in this page stopped: ${event.message ?? "no reason given"}. Reload the page.`;
      for (const { id, take } of this.asked.values()) take({ id, failed });
      this.asked.clear();
    });
    return worker;
  }

  private abort(question: Question): void {
    question.isAborted = true;
    this.worker.postMessage({ id: question.id, cancel: true });
    setTimeout(() => {
      const [first] = this.asked.values();
      if (first === question) this.startAnew();
    }, patience);
  }

  private startAnew(): void {
    this.worker.terminate();
    this.worker = this.started();
    for (const { id, name, body, isAborted } of [...this.asked.values()]) {
      if (isAborted) this.asked.delete(id);
      else this.worker.postMessage({ id, name, body });
    }
  }
}
