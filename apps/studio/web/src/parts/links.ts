// Each number has one name ("weights:1,2") wherever it is shown: in a table, a formula, a picture. Pointing at one rings
// what it is made of and what is made from it.

import { computed, signal } from "@preact/signals";
import { useEffect, type MutableRef } from "preact/hooks";

export const pointed = signal<string | null>(null);
export const pinned = signal<string | null>(null);
export const selected = computed(() => pointed.value ?? pinned.value);

/** Of the selected number; "*" in a name stands for every row or column. */
export interface Rings {
  of: string | null;
  sources: readonly string[];
  uses: readonly string[];
}

export const rings = signal<Rings>({ of: null, sources: [], uses: [] });

export interface NumberName {
  matrix: string;
  row: number;
  column: number;
}

export function nameOf(matrix: string, row: number, column: number): string {
  return `${matrix}:${row},${column}`;
}

export function parsedName(name: string): NumberName | null {
  const match = /^([a-z_]+):(\d+),(\d+)$/.exec(name);
  return match ? { matrix: match[1]!, row: Number(match[2]), column: Number(match[3]) } : null;
}

function listed(names: readonly string[], name: string): boolean {
  const parts = parsedName(name);
  if (!parts) return names.includes(name);
  const { matrix, row, column } = parts;
  return [name, `${matrix}:${row},*`, `${matrix}:*,${column}`, `${matrix}:*,*`].some((one) => names.includes(one));
}

export type Ring = "self" | "source" | "use";

export function ringOf({ of, sources, uses }: Rings, name: string): Ring | null {
  if (name === of) return "self";
  if (listed(sources, name)) return "source";
  return listed(uses, name) ? "use" : null;
}

function nameUnder(target: EventTarget | null): string | null {
  return target instanceof Element ? (target.closest("[data-name]")?.getAttribute("data-name") ?? null) : null;
}

/** Rings every element of `root` that has a data-name, and follows pointer and focus; a click pins. */
export function useLinks(root: MutableRef<HTMLElement | null>, onPin: (name: string | null) => void): void {
  useEffect(() => {
    const element = root.current;
    if (!element) return;
    const point = (event: PointerEvent) => {
      if (event.pointerType !== "touch" && event.buttons === 0) pointed.value = nameUnder(event.target);
    };
    const leave = () => (pointed.value = null);
    const focus = (event: FocusEvent) => (pointed.value = nameUnder(event.target));
    const click = (event: MouseEvent) => {
      const name = nameUnder(event.target);
      if (name) onPin(name);
    };
    element.addEventListener("pointerover", point);
    element.addEventListener("pointerleave", leave);
    element.addEventListener("focusin", focus);
    element.addEventListener("focusout", leave);
    element.addEventListener("click", click);
    return () => {
      element.removeEventListener("pointerover", point);
      element.removeEventListener("pointerleave", leave);
      element.removeEventListener("focusin", focus);
      element.removeEventListener("focusout", leave);
      element.removeEventListener("click", click);
    };
  }, []);
  useEffect(() => {
    const element = root.current;
    if (!element) return;
    const ring = () => drawRings(element, rings.value);
    // What is drawn anew, a step of an animation for one, is ringed as well.
    const observer = new MutationObserver(ring);
    observer.observe(element, { childList: true, subtree: true, attributeFilter: ["data-name"] });
    const stop = rings.subscribe(ring);
    return () => {
      observer.disconnect();
      stop();
    };
  }, []);
}

function drawRings(root: Element, now: Rings): void {
  for (const element of root.querySelectorAll("[data-name]")) {
    const ring = ringOf(now, element.getAttribute("data-name") ?? "");
    if (element.getAttribute("data-ring") === ring) continue;
    if (ring) element.setAttribute("data-ring", ring);
    else element.removeAttribute("data-ring");
  }
}
