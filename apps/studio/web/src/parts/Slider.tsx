// A labelled slider, and a field for a whole number. Both say "drag" while they move and "done" when they are let go.

import { useSignal } from "@preact/signals";
import { wholeNumber, type Change } from "../app/address";
import "./slider.css";

export interface SliderProps {
  label: string;
  /** What stands beside the label: the value in words. */
  shown: string;
  at: number;
  least: number;
  most: number;
  step?: number;
  /** Shows where it stands, and cannot be moved. */
  fixed?: boolean;
  onMove: (at: number, how: Change) => void;
}

export function Slider({ label, shown, at, least, most, step = 1, fixed = false, onMove }: SliderProps) {
  const move = (how: Change) => (event: Event) => onMove(Number((event.currentTarget as HTMLInputElement).value), how);
  return (
    <label class="slider">
      <span>
        {label} <b>{shown}</b>
      </span>
      <input
        type="range"
        min={least}
        max={most}
        step={step}
        value={at}
        disabled={fixed}
        aria-valuetext={shown}
        onInput={move("drag")}
        onChange={move("done")}
      />
    </label>
  );
}

export interface CountFieldProps {
  label: string;
  value: number | string;
  /** What it means, for a tooltip. */
  meaning?: string;
  /** What the engine says against it. */
  problem?: string | null;
  onChange: (text: string | null, how: Change) => void;
}

/** An empty field stands for the default. */
export function CountField({ label, value, meaning, problem, onChange }: CountFieldProps) {
  const draft = useSignal<string | null>(null);
  const typed = draft.value?.trim() ?? "";
  const isBad = typed !== "" && wholeNumber(typed) === null;
  const take = (text: string, how: Change) => {
    if (text.trim() === "") onChange(null, how);
    else if (wholeNumber(text.trim()) !== null) onChange(text.trim(), how);
  };
  return (
    <label class={`count-field ${isBad || problem ? "wrong-count" : ""}`} title={meaning}>
      <span>{label}</span>
      <input
        inputMode="numeric"
        autocomplete="off"
        spellcheck={false}
        value={draft.value ?? String(value)}
        aria-invalid={isBad || Boolean(problem)}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
          take(draft.value, "drag");
        }}
        onChange={(event) => take(event.currentTarget.value, "done")}
        onBlur={() => (draft.value = null)}
      />
      {(isBad || problem) && <em class="problem">{isBad ? `expected a whole number, got ${typed}` : problem}</em>}
    </label>
  );
}
