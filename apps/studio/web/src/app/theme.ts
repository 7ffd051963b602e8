// Light or dark, large for a projector, and whether anything may move.

import { computed, effect, signal } from "@preact/signals";
import type { Ground } from "../drawing/palette";

function media(query: string) {
  if (typeof matchMedia !== "function") return signal(false); // no browser: pictures drawn in a test
  const list = matchMedia(query);
  const state = signal(list.matches);
  list.addEventListener("change", () => (state.value = list.matches));
  return state;
}

const systemDark = media("(prefers-color-scheme: dark)");
const chosen = signal<Ground | null>(readChoice());

export const reducedMotion = media("(prefers-reduced-motion: reduce)");
export const narrow = media("(max-width: 719px)");
export const coarse = media("(pointer: coarse)");
export const projector = signal(false);
const printing = signal(false);
export const ground = computed<Ground>(() => (printing.value ? "light" : (chosen.value ?? (systemDark.value ? "dark" : "light"))));

// Pages from a file may be denied storage.
function readChoice(): Ground | null {
  try {
    const kept = localStorage.getItem("qkv-ground");
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    return null;
  }
}

export function toggleGround(): void {
  const next: Ground = ground.value === "dark" ? "light" : "dark";
  chosen.value = (next === "dark") === systemDark.value ? null : next;
  try {
    if (chosen.value === null) localStorage.removeItem("qkv-ground");
    else localStorage.setItem("qkv-ground", chosen.value);
  } catch {
    // the choice then lasts as long as the page
  }
}

export function applyTheme(): void {
  addEventListener("beforeprint", () => (printing.value = true));
  addEventListener("afterprint", () => (printing.value = false));
  effect(() => {
    document.documentElement.dataset["ground"] = ground.value;
    document.documentElement.classList.toggle("projector", projector.value);
  });
}
