// The steps on a rail. Its handle is dragged either way; where it stands is how far the pictures have come.

import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import "./rail.css";

export interface RailStop {
  at: number;
  title: string;
  /** A part of the step after it. */
  inner: boolean;
}

export interface StepRailProps {
  /** From position 0 on, in order; the last one is the end. */
  stops: readonly RailStop[];
  position: Signal<number>;
  label: string;
  onLeave: (at: number) => void;
  onArrive: (stop: RailStop) => void;
}

export function nearest(stops: readonly RailStop[], at: number): RailStop | null {
  let best: RailStop | null = null;
  for (const stop of stops) if (!best || Math.abs(stop.at - at) < Math.abs(best.at - at)) best = stop;
  return best;
}

export function StepRail({ stops, position, label, onLeave, onArrive }: StepRailProps) {
  const track = useRef<HTMLDivElement>(null);
  const end = Math.max(stops.at(-1)?.at ?? 1, 1);
  const share = (at: number) => `${(100 * at) / end}%`;

  const onPointerDown = (down: PointerEvent) => {
    if (down.button !== 0) return;
    down.preventDefault();
    track.current?.focus();
    const at = (event: PointerEvent) => {
      const box = track.current?.getBoundingClientRect();
      if (!box) return 0;
      return end * Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    };
    let dragged = false;
    const onMove = (event: PointerEvent) => {
      if (!dragged && Math.abs(event.clientX - down.clientX) < 3) return;
      dragged = true;
      onLeave(at(event));
    };
    const onUp = (event: PointerEvent) => {
      removeEventListener("pointermove", onMove);
      removeEventListener("pointerup", onUp);
      removeEventListener("pointercancel", onUp);
      const outer = stops.filter((stop) => !stop.inner);
      const stop = nearest(dragged ? stops : outer, at(event));
      if (stop) onArrive(stop);
    };
    addEventListener("pointermove", onMove);
    addEventListener("pointerup", onUp);
    addEventListener("pointercancel", onUp);
  };

  const here = nearest(stops, position.value);
  const onKeyDown = (event: KeyboardEvent) => {
    const outer = stops.filter((stop) => !stop.inner);
    const wanted = event.key === "Home" ? outer[0] : event.key === "End" ? outer.at(-1) : undefined;
    if (!wanted) return;
    event.preventDefault();
    onArrive(wanted);
  };
  return (
    <div class="rail" onPointerDown={onPointerDown}>
      <div
        class="rail-track"
        ref={track}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={end}
        aria-valuenow={Math.round(position.value * 100) / 100}
        aria-valuetext={here?.title ?? ""}
        onKeyDown={onKeyDown}
      >
        <div class="rail-done" style={{ width: share(position.value) }} />
        {stops.map((stop) => (
          <span
            key={`${stop.at} ${stop.inner}`}
            class={`rail-stop ${stop.inner ? "inner" : ""} ${stop.at <= position.value + 1e-6 ? "passed" : ""}`}
            style={{ left: share(stop.at) }}
          />
        ))}
        <span class="rail-handle" style={{ left: share(position.value) }} />
      </div>
      <div class="rail-titles" aria-hidden="true" style={{ "--rail-share": `${100 / end}%` }}>
        {stops
          .filter((stop) => !stop.inner)
          .map((stop) => (
            <span key={stop.at} class={here === stop ? "here" : ""} style={{ left: share(stop.at) }}>
              {stop.title}
            </span>
          ))}
      </div>
    </div>
  );
}
