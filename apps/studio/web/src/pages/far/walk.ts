// The exact walk: band by band from the top, each shown as soon as it is there; it can be stopped and goes on later.

import { signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { cellSide } from "../../drawing/tiles";
import type { Engine } from "../../engine/engine";
import { EngineError, wasAborted } from "../../engine/errors";
import { OverHttp } from "../../engine/over_http";
import type { FarOpenRequest, FarReply } from "../../engine/messages";
import { heldTile, withBand, type HeldTile } from "./held";

/** Walks of more pairs are begun by the reader: an engine in the page has one thread, and tiles would wait for it. */
export function mostUnasked(engine: Engine): number {
  return engine.transport instanceof OverHttp ? 2e10 : 3e8;
}

const usualPairs = 131072 ** 2;
const usualSeconds = 13; // of two cores with avx2 for those
const slower = 2 * 2.2; // on one thread of WebAssembly: half the cores, each at 1 / 2.2 of the speed

/** What a walk will take, before any of it is known: "two cores about 13 s". */
export function expectedTime(pairs: number, isInPage: boolean): string {
  const seconds = (pairs / usualPairs) * usualSeconds;
  return isInPage ? `one thread in this page about ${duration(slower * seconds)}` : `two cores about ${duration(seconds)}`;
}

export type WalkState = "waits" | "walks" | "stopped" | "done" | "failed";

export interface Walk {
  state: ReadonlySignal<WalkState>;
  /** 0 to 1. */
  share: ReadonlySignal<number>;
  /** Seconds left, by the rate so far; null before that is known. */
  left: ReadonlySignal<number | null>;
  /** Of the bands, which are exact. */
  done: ReadonlySignal<ReadonlySet<number>>;
  /** The whole matrix in the cells of the last level. */
  whole: Signal<HeldTile>;
  problem: ReadonlySignal<string | null>;
  /** Who walks, and about how long, before the first band is there. */
  expected: string;
  /** The first picture is there: starts what is not to be asked for. */
  begin(): void;
  start(): void;
  stop(): void;
}

/** An upper bound of the pairs, whatever the mask. */
export function pairsOf({ queries, keys }: FarReply): number {
  return queries * keys;
}

export function openWalk(engine: Engine, request: FarOpenRequest, reply: FarReply, unasked: boolean): Walk {
  const state = signal<WalkState>("waits");
  const share = signal(0);
  const left = signal<number | null>(null);
  const done = signal<ReadonlySet<number>>(new Set());
  const whole = signal(heldTile(reply.overview));
  const problem = signal<string | null>(null);
  const bands = reply.levels[reply.base]!.rows;
  let running: AbortController | null = null;

  async function walk(signalled: AbortSignal): Promise<void> {
    const since = performance.now();
    let first: number | null = null;
    const progress = ({ done: pairs, total }: { done: number; total: number }) => {
      share.value = total > 0 ? pairs / total : 0;
      first ??= share.value;
      const walked = share.value - first;
      if (walked > 0.03) left.value = ((performance.now() - since) / 1000 / walked) * (1 - share.value);
    };
    for (let band = 0; band < bands; ++band) {
      if (done.value.has(band)) continue;
      const tile = await engine.ask("far_walk", { ...request, band }, { signal: signalled, progress });
      signalled.throwIfAborted();
      whole.value = withBand(whole.value, heldTile(tile), tile.i_begin / cellSide(reply.overview.level));
      done.value = new Set([...done.value, band]);
    }
    whole.value = { ...whole.value, every: 1, picture: null };
    share.value = 1;
    state.value = "done";
  }

  const start = () => {
    if (running || state.value === "done") return;
    const abort = new AbortController();
    running = abort;
    state.value = "walks";
    problem.value = null;
    walk(abort.signal)
      .catch((error: unknown) => {
        if (wasAborted(error) || abort.signal.aborted) return;
        problem.value = error instanceof EngineError || error instanceof Error ? error.message : String(error);
        state.value = "failed";
      })
      .finally(() => {
        if (running === abort) running = null;
      });
  };
  return {
    state,
    share,
    left,
    done,
    whole,
    problem,
    expected: expectedTime(pairsOf(reply), engine.transport.isInPage === true),
    begin() {
      if (unasked && state.peek() === "waits") start();
    },
    start,
    stop() {
      if (!running) return;
      running.abort();
      running = null;
      left.value = null;
      state.value = "stopped";
    },
  };
}

/** Whether the walk has been through all queries of [from, to). */
export function isWalked(done: ReadonlySet<number>, bandQueries: number, from: number, to: number): boolean {
  for (let band = Math.floor(from / bandQueries); band * bandQueries < to; ++band) if (!done.has(band)) return false;
  return true;
}

/** "27 s", "4 min", "1.2 h" */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

