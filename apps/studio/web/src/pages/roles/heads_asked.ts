// What heads do, asked in two goes: patterns first, and then what the model loses without each head, which takes a pass
// for every one of them.

import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { asked } from "../../engine/asked";
import type { Engine, Progress } from "../../engine/engine";
import type { EngineError, EngineGone } from "../../engine/errors";
import type { AnalyzeRequest, RolesReply } from "../../engine/messages";

export interface HeadsAsked {
  reply: ReadonlySignal<RolesReply | null>;
  /** Whether `reply` is of the model and texts that are asked for now. */
  isCurrent: ReadonlySignal<boolean>;
  /** Whether removal and gradient are still on their way. */
  isPending: ReadonlySignal<boolean>;
  isWorking: ReadonlySignal<boolean>;
  progress: ReadonlySignal<Progress | null>;
  error: ReadonlySignal<EngineError | null>;
  gone: ReadonlySignal<EngineGone | null>;
  isStopped: ReadonlySignal<boolean>;
  halt(): void;
  goOn(): void;
  close(): void;
}

const quickly = (request: AnalyzeRequest): AnalyzeRequest => ({ ...request, importance: 0 });
const isSame = (a: AnalyzeRequest | null, b: AnalyzeRequest | null) =>
  a !== null && b !== null && JSON.stringify(a) === JSON.stringify(b);

export function headsAsked(engine: Engine, wanted: ReadonlySignal<AnalyzeRequest | null>): HeadsAsked {
  const haltedAt = signal<AnalyzeRequest | null>(null);
  const isStopped = computed(() => haltedAt.value !== null && haltedAt.value === wanted.value);
  const going = computed(() => (isStopped.value ? null : wanted.value));
  const quick = asked(
    engine,
    "analyze",
    computed(() => (going.value ? quickly(going.value) : null)),
  );
  const hasQuick = computed(() => wanted.value !== null && isSame(quick.answered.value, quickly(wanted.value)));
  const full = asked(
    engine,
    "analyze",
    computed(() => (hasQuick.value ? going.value : null)),
  );
  const hasFull = computed(() => isSame(full.answered.value, wanted.value));
  const error = computed(() => quick.error.value ?? (hasFull.value ? null : full.error.value));

  return {
    reply: computed(() => (hasFull.value ? full.reply.value : (quick.reply.value ?? full.reply.value))),
    isCurrent: computed(() => hasQuick.value || hasFull.value),
    isPending: computed(() => !hasFull.value && !isStopped.value && error.value === null),
    isWorking: computed(() => quick.waiting.value || full.waiting.value),
    progress: computed(() => full.progress.value ?? quick.progress.value),
    error,
    gone: computed(() => quick.gone.value ?? full.gone.value),
    isStopped,
    halt() {
      haltedAt.value = wanted.peek();
      quick.cancel();
      full.cancel();
    },
    goOn() {
      haltedAt.value = null;
    },
    close() {
      quick.stop();
      full.stop();
    },
  };
}
