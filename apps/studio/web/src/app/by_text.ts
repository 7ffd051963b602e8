import { computed, type ReadonlySignal } from "@preact/signals";

/** A computed object that only changes when its text does: what asks for it is not asked again for an equal one. */
export function byText<T>(of: () => T | null): ReadonlySignal<T | null> {
  const text = computed(() => JSON.stringify(of()));
  return computed(() => JSON.parse(text.value) as T | null);
}
