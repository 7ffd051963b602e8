// A place between stages that plays, is stepped and dragged; without motion it jumps from stage to stage.

import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { reducedMotion } from "../app/theme";
import "./player.css";

const usualTime = 900; // milliseconds of a stage

export interface Player {
  at: Signal<number>;
  playing: Signal<boolean>;
  last: number;
}

/** From `from` to `last`; stages are the whole numbers. */
export function usePlayer(last: number, from = 0, stageTime = usualTime): Player {
  const at = useSignal(from);
  const playing = useSignal(false);
  if (at.value > last) at.value = last;
  useEffect(() => {
    if (!playing.value) return undefined;
    if (reducedMotion.value) {
      const timer = setInterval(() => step(1), stageTime);
      return () => clearInterval(timer);
    }
    let frame = 0;
    let before = performance.now();
    const tick = (now: number) => {
      step((now - before) / stageTime);
      before = now;
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [playing.value, reducedMotion.value, last, stageTime]);

  function step(by: number): void {
    at.value = Math.min(at.value + by, last);
    if (at.value >= last) playing.value = false;
  }
  return { at, playing, last };
}

export interface PlayerProps {
  player: Player;
  label: string;
  /** What is to be seen there, in words. */
  says: (at: number) => string;
}

export function PlayerBar({ player, label, says }: PlayerProps) {
  const { at, playing, last } = player;
  const set = (to: number) => {
    playing.value = false;
    at.value = Math.min(Math.max(to, 0), last);
  };
  const play = () => {
    if (at.value >= last) at.value = 0;
    playing.value = !playing.value;
  };
  return (
    <div class="player">
      <button type="button" aria-label={`${label}: back`} disabled={at.value <= 0} onClick={() => set(Math.ceil(at.value) - 1)}>
        ‹
      </button>
      <button type="button" class="main" onClick={play}>
        {playing.value ? "Pause" : "Play"}
      </button>
      <button type="button" aria-label={`${label}: on`} disabled={at.value >= last} onClick={() => set(Math.floor(at.value) + 1)}>
        ›
      </button>
      <input
        type="range"
        aria-label={label}
        min={0}
        max={last}
        step={reducedMotion.value ? 1 : "any"}
        value={at.value}
        aria-valuetext={says(at.value)}
        onInput={(event) => set(Number(event.currentTarget.value))}
      />
      <output>{says(at.value)}</output>
    </div>
  );
}
