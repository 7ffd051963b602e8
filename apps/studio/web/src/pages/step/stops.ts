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
    const parts = partsOf(step);
    parts.forEach((part, m) => {
      stops.push({
        at: n + (m + 1) / parts.length,
        key: `${n + 1}.${m + 1}`,
        title: part.title,
        inner: true,
        step: part,
      });
    });
    stops.push({ at: n + 1, key: String(n + 1), title: step.title, inner: false, step });
  });
  return stops;
}

/** The inner steps; before them the step itself, where they follow on what it makes. */
export function partsOf(step: BenchStep): BenchStep[] {
  const [first] = step.made;
  const isMadeInside = step.inner.some((inner) => first !== undefined && inner.made.includes(first));
  return step.inner.length === 0 || isMadeInside ? step.inner : [step, ...step.inner];
}

export function stopOf(stops: readonly Stop[], key: string | undefined): Stop {
  const named = (name: string) => stops.find((stop) => stop.key === name);
  const [first] = stops;
  if (!first) throw new Error("a rail has a first stop");
  const last = stops.at(-1) ?? first;
  return named(key ?? "0") ?? named((key ?? "").split(".")[0] ?? "") ?? (Number(key) > last.at ? last : first);
}

/** The stop that a position is on the way to. */
export function stopAt(stops: readonly Stop[], position: number): Stop {
  const close = 1e-3;
  const next = stops.find((stop) => stop.at >= position - close) ?? stops.at(-1);
  if (!next) throw new Error("a rail has stops");
  return next;
}

/** The next stop in a direction: from one inner step to the other, else from step to step. */
export function nextStop(stops: readonly Stop[], from: Stop, direction: 1 | -1): Stop {
  // The last part ends where its step does: only one of them is stood on.
  const among = stops.filter(
    (stop) => stop === from || (from.inner ? stop.inner || !hasParts(stops, stop) : !stop.inner),
  );
  return among[among.indexOf(from) + direction] ?? from;
}

function hasParts(stops: readonly Stop[], stop: Stop): boolean {
  return stops.some((one) => one.inner && one.at === stop.at);
}

/** The first inner step of the step one is at, or is about to take; null where it has none. */
export function innerStop(stops: readonly Stop[], from: Stop): Stop | null {
  const into = (at: number) => stops.find((stop) => stop.inner && stop.at > at - 1 && stop.at <= at) ?? null;
  return into(Math.ceil(from.at)) ?? into(from.at + 1);
}

export function outerStop(stops: readonly Stop[], from: Stop): Stop {
  return stops.find((stop) => !stop.inner && stop.at >= from.at) ?? from;
}
