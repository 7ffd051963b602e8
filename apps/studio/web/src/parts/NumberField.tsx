// A number being typed, and a number being dragged.

import { useLayoutEffect, useRef } from "preact/hooks";
import { beginsNumber, nudged, numberProblem, plainNumber, typedNumber } from "../drawing/numbers";

export interface NumberFieldProps {
  value: number;
  /** What was typed to open it; empty: the number is selected. */
  typed: string;
  label: string;
  onChange: (value: number, settled: boolean) => void;
  /** True if a key ended it: the focus then goes back to the cell. */
  onDone: (keyboard: boolean) => void;
  /** What is wrong with what is typed; the old value stays in force, and the field open, until it is a number or given up. */
  onProblem: (problem: string | null) => void;
  /** The element that shows the problem, while there is one. */
  problemId?: string | undefined;
}

export function stepOf(event: { shiftKey: boolean; altKey: boolean }): number {
  if (event.shiftKey) return 1;
  return event.altKey ? 0.01 : 0.1;
}

export function NumberField({ value, typed, label, onChange, onDone, onProblem, problemId }: NumberFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const start = useRef(value);
  const ended = useRef(false);
  useLayoutEffect(() => {
    const input = field.current;
    if (!input) return;
    input.value = typed || plainNumber(value);
    input.focus();
    if (!typed) input.select();
  }, []);

  const finish = (keep: boolean, keyboard: boolean) => {
    if (ended.current) return;
    const text = field.current?.value ?? "";
    const problem = keep ? numberProblem(text) : null;
    onProblem(problem);
    if (problem !== null) {
      field.current?.setAttribute("aria-invalid", "true");
      onChange(start.current, true);
      return;
    }
    ended.current = true;
    onChange(keep ? (typedNumber(text) ?? start.current) : start.current, true);
    onDone(keyboard);
  };
  const take = (text: string) => {
    const next = typedNumber(text);
    field.current?.setAttribute("aria-invalid", String(next === null));
    onProblem(beginsNumber(text) ? null : numberProblem(text));
    onChange(next ?? start.current, false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Enter") finish(true, true);
    else if (event.key === "Escape") finish(false, true);
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const now = typedNumber(field.current?.value ?? "") ?? value;
      const next = nudged(now, event.key === "ArrowUp" ? stepOf(event) : -stepOf(event));
      if (field.current) field.current.value = plainNumber(next);
      take(plainNumber(next));
    } else return;
    event.preventDefault();
  };
  return (
    <input
      ref={field}
      class="number-field"
      inputMode="decimal"
      aria-label={label}
      onKeyDown={onKeyDown}
      aria-describedby={problemId}
      onInput={(event) => take(event.currentTarget.value)}
      onBlur={() => finish(true, false)}
    />
  );
}

export interface Scrub {
  value: number;
  move: (start: number, change: number) => number;
  onChange: (value: number, settled: boolean) => void;
  onTap: (event: PointerEvent) => void;
}

const startsAfter = 4; // pixels
const pixelsPerStep = 8;

/** A handler of pointerdown: dragging sideways changes the number, a press without dragging is a tap. */
export function scrubbing({ value, move, onChange, onTap }: Scrub) {
  return (down: PointerEvent) => {
    if (down.button !== 0 || !(down.currentTarget instanceof HTMLElement)) return;
    if (down.pointerType === "touch") return; // a finger scrolls; the sheet has buttons
    const target = down.currentTarget;
    let last: number | null = null;
    const onMove = (event: PointerEvent) => {
      const distance = event.clientX - down.clientX;
      if (last === null && Math.abs(distance) < startsAfter) return;
      if (last === null) document.documentElement.classList.add("scrubbing");
      const next = move(value, Math.round(distance / pixelsPerStep) * stepOf(event));
      if (next === last) return;
      last = next;
      onChange(next, false);
    };
    const onUp = (event: PointerEvent) => {
      removeEventListener("pointermove", onMove);
      removeEventListener("pointerup", onUp);
      removeEventListener("pointercancel", onUp);
      document.documentElement.classList.remove("scrubbing");
      if (last !== null) onChange(last, true);
      else if (event.type === "pointerup" && target.isConnected) onTap(event);
    };
    addEventListener("pointermove", onMove);
    addEventListener("pointerup", onUp);
    addEventListener("pointercancel", onUp);
  };
}
