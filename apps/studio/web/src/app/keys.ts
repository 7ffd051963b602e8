// Keys of the frame and of the page that is shown. The help lists exactly those that do something now.

import { computed, signal } from "@preact/signals";

export interface Key {
  /** As KeyboardEvent.key has them: "ArrowRight", "n", "?". */
  keys: readonly string[];
  /** For the help: "→", "n". */
  shown: string;
  does: string;
  run: () => void;
  /** Arrow keys belong to what has the focus if it uses them itself: a matrix, a slider, a field. */
  yields?: boolean;
}

const groups = signal<readonly (readonly Key[])[]>([]);

export const allKeys = computed(() => groups.value.flat());

/** Adds keys, those of a page above those of the frame; the result takes them away again. To be called in a layout effect:
 * a key that is pressed once something is seen counts. */
export function useKeys(keys: readonly Key[]): () => void {
  groups.value = [keys, ...groups.value];
  return () => {
    groups.value = groups.value.filter((group) => group !== keys);
  };
}

const typing = "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]";
const ownArrows = "[role=grid], [role=menu], [role=radiogroup], [role=tablist], input, [data-own-arrows]";

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** The key that a press means, given what has the focus; null for none. */
export function meant(press: Pressed, within: (selector: string) => boolean, keys: readonly Key[]): Key | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  if (within(typing)) return null;
  const key = keys.find((one) => one.keys.includes(press.key));
  return key && !(key.yields && within(ownArrows)) ? key : null;
}

export function listenForKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return; // the keys of a dialog are its own
    const target = event.target instanceof Element ? event.target : null;
    const key = meant(event, (selector) => target?.closest(selector) != null, allKeys.value);
    if (!key) return;
    event.preventDefault();
    key.run();
  });
}
