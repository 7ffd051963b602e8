import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Takings } from "./page";

/** Puts what `of` gives among the takings whenever one of `from` changes; undefined leaves what is there. The page that
 * goes takes all of it away. */
export function useTakings(
  takings: Signal<Takings | null>,
  of: () => Takings | null | undefined,
  from: readonly unknown[],
): void {
  useEffect(() => {
    const next = of();
    if (next !== undefined) takings.value = next;
  }, from);
  useEffect(() => () => void (takings.value = null), []);
}
