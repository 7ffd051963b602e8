// The position on the rail moves to where the address says, in 400 ms, or at once for readers who want no motion.

import { effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { reducedMotion } from "../../app/theme";

const stepTime = 400; // milliseconds from one stop to the next; a step with inner ones takes twice that
export const holdTime = 1500; // milliseconds that Play rests at each stop

export interface Motion {
  position: Signal<number>;
  /** While the handle is held, the address does not move it. */
  held: Signal<boolean>;
  stop: () => void;
}

/** Slow at both ends; t in [0, 1]. */
export function eased(t: number): number {
  return t < 0.5 ? 2 * t * t : 1 - (2 - 2 * t) ** 2 / 2;
}

export function motionTo(target: ReadonlySignal<{ at: number; slow: boolean }>): Motion {
  const position = signal(target.peek().at);
  const held = signal(false);
  let frame = 0;
  const stop = effect(() => {
    const { at, slow } = target.value;
    if (held.value) return;
    cancelAnimationFrame(frame);
    const from = position.peek();
    const far = Math.abs(at - from) > 1 + 1e-6;
    if (from === at || reducedMotion.value || far) {
      position.value = at;
      return;
    }
    const started = performance.now();
    const time = slow ? 3 * stepTime : stepTime;
    const tick = (now: number) => {
      const t = Math.min(Math.max((now - started) / time, 0), 1);
      position.value = t === 1 ? at : from + (at - from) * eased(t);
      if (t < 1) frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
  });
  return {
    position,
    held,
    stop: () => {
      cancelAnimationFrame(frame);
      stop();
    },
  };
}
