// A reply that follows a changing request: the last good one stays while the next is on its way.

import { effect, signal, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Engine, Progress, Reply, Request } from "./engine";
import { EngineError, EngineGone, wasAborted } from "./errors";
import type { Questions } from "./messages";

const dimsAfter = 150; // milliseconds
const givenUpAfter = 1000; // a newer request ends the work on one that takes longer

export interface Asked<Q extends keyof Questions> {
  reply: Signal<Reply<Q> | null>;
  /** The request that `reply` answers. */
  answered: Signal<Request<Q> | null>;
  error: Signal<EngineError | null>;
  gone: Signal<EngineGone | null>;
  /** True once a reply takes long enough to show it. */
  waiting: Signal<boolean>;
  progress: Signal<Progress | null>;
  /** Ends the work on the request that is under way; later ones are asked as before. */
  cancel(): void;
  stop(): void;
}

/** Asks whenever `request` changes to something; at most one question is on its way, and the newest one waits. */
export function asked<Q extends keyof Questions>(
  engine: Engine,
  name: Q,
  request: ReadonlySignal<Request<Q> | null>,
): Asked<Q> {
  const state: Omit<Asked<Q>, "stop" | "cancel"> = {
    reply: signal(null),
    answered: signal(null),
    error: signal(null),
    gone: signal(null),
    waiting: signal(false),
    progress: signal(null),
  };
  let next: Request<Q> | null = null;
  let running: { abort: AbortController; since: number } | null = null;

  async function run(one: Request<Q>): Promise<void> {
    const abort = new AbortController();
    running = { abort, since: performance.now() };
    const dim = setTimeout(() => (state.waiting.value = true), dimsAfter);
    try {
      const progress = (made: Progress) => (state.progress.value = made);
      const reply = await engine.ask(name, one, { signal: abort.signal, progress });
      state.answered.value = one;
      state.reply.value = reply;
      state.error.value = null;
      state.gone.value = null;
    } catch (error) {
      if (error instanceof EngineError) state.error.value = error;
      else if (error instanceof EngineGone) state.gone.value = error;
      else if (!wasAborted(error)) state.error.value = new EngineError(String(error));
    }
    clearTimeout(dim);
    running = null;
    state.waiting.value = false;
    state.progress.value = null;
    if (next) {
      const newest = next;
      next = null;
      void run(newest);
    }
  }

  const dispose = effect(() => {
    const wanted = request.value;
    untracked(() => {
      if (!wanted) return;
      if (!running) void run(wanted);
      else {
        next = wanted;
        if (performance.now() - running.since > givenUpAfter) running.abort.abort();
      }
    });
  });
  const cancel = () => {
    next = null;
    running?.abort.abort();
  };
  return {
    ...state,
    cancel,
    stop() {
      dispose();
      cancel();
    },
  };
}
