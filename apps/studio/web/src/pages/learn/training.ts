// A model that learns because a page asked for it: it goes on while another page is looked at, until this one is closed.

import { computed, signal } from "@preact/signals";
import type { Engine } from "../../engine/engine";
import { wasAborted } from "../../engine/errors";
import type { LearnTask, TrainRequest } from "../../engine/messages";

export interface Training {
  task: string;
  done: number;
  steps: number;
}

const now = signal<Training | null>(null);
const problem = signal<string | null>(null);
let running: AbortController | null = null;

const kept = 24; // models on the way, so that a head can be watched forming

/** A run by its task's recipe. */
export function newRun({ name, steps }: LearnTask): TrainRequest {
  const every = Math.max(Math.floor(steps / kept), 1);
  return { task: name, keep_every: every, examine_every: every };
}

async function start(engine: Engine, request: TrainRequest, onBegun: (run: string) => unknown): Promise<void> {
  if (running) return;
  const task = request.task ?? "";
  running = new AbortController();
  now.value = { task, done: 0, steps: 0 };
  problem.value = null;
  const progress = ({ done, total }: { done: number; total: number }) => {
    if (now.peek()?.done === 0) onBegun(runOf(task));
    now.value = { task, done, steps: total };
  };
  try {
    await engine.ask("train", request, { signal: running.signal, progress, anew: true, keep: false });
  } catch (error) {
    if (!wasAborted(error)) problem.value = error instanceof Error ? error.message : String(error);
  } finally {
    running = null;
    now.value = null;
  }
}

/** Where a task is learnt. */
export function runOf(task: string): string {
  return `qkv-${task}`;
}

export const training = {
  now,
  problem,
  /** True from the first step on. */
  hasBegun: computed(() => (now.value?.done ?? 0) > 0),
  start,
  stop: () => running?.abort(),
};
