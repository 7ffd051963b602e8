// A model that learns because a page asked for it: it goes on while another page is looked at, until this one is closed.

import { computed, signal } from "@preact/signals";
import type { Engine } from "../../engine/engine";
import { wasAborted } from "../../engine/errors";

export interface Training {
  task: string;
  done: number;
  steps: number;
}

const now = signal<Training | null>(null);
const problem = signal<string | null>(null);
let running: AbortController | null = null;

async function start(engine: Engine, task: string, onBegun: (run: string) => unknown): Promise<void> {
  if (running) return;
  running = new AbortController();
  now.value = { task, done: 0, steps: 0 };
  problem.value = null;
  const progress = ({ done, total }: { done: number; total: number }) => {
    if (now.peek()?.done === 0) onBegun(runOf(task));
    now.value = { task, done, steps: total };
  };
  try {
    await engine.ask("train", { task }, { signal: running.signal, progress, anew: true, keep: false });
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
