// Where one can stand on the rail: position 0 is before the first step, n after the n-th; inner steps divide the way.

import type { BenchStep } from "../../engine/messages";
import type { RailStop } from "../../parts/StepRail";

export interface Stop extends RailStop {
  /** As the address writes it: "4", "4.2". */
  key: string;
  step: BenchStep | null;
}

export function stopsOf(steps: readonly BenchStep[], ready: string): Stop[] {
  const stops: Stop[] = [{ at: 0, key: "0", title: ready, inner: false, step: null }];
  steps.forEach((step, n) => {
    // The last inner step ends where its step ends.
    step.inner.slice(0, -1).forEach((inner, part) => {
      stops.push({ at: n + (part + 1) / step.inner.length, key: `${n + 1}.${part + 1}`, title: inner.title, inner: true, step: inner });
    });
    stops.push({ at: n + 1, key: String(n + 1), title: step.title, inner: false, step });
  });
  return stops;
}

export function stopOf(stops: readonly Stop[], key: string | undefined): Stop {
  const found = stops.find((stop) => stop.key === (key ?? "0"));
  const first = stops[0];
  if (!first) throw new Error("a rail has a first stop");
  return found ?? (Number(key) > 0 ? (stops.at(-1) ?? first) : first);
}

/** The next stop in a direction: from one inner step to the other, else from step to step. */
export function nextStop(stops: readonly Stop[], from: Stop, direction: 1 | -1): Stop {
  const at = stops.indexOf(from);
  const among = from.inner ? stops : stops.filter((stop) => !stop.inner);
  const next = among[among.indexOf(from) + direction];
  return next ?? stops[at] ?? from;
}

/** The first inner step of the step one is at, or is about to take; null where it has none. */
export function innerStop(stops: readonly Stop[], from: Stop): Stop | null {
  const into = (at: number) => stops.find((stop) => stop.inner && stop.at > at - 1 && stop.at < at) ?? null;
  return into(from.at) ?? into(from.at + 1);
}

export function outerStop(stops: readonly Stop[], from: Stop): Stop {
  return stops.find((stop) => !stop.inner && stop.at >= from.at) ?? from;
}
