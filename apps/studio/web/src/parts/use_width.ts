// How wide an element is now, so that a picture is drawn for the room it has and its letters keep their size.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, type MutableRef } from "preact/hooks";

export function useWidth(place: MutableRef<HTMLElement | null>, before = 0): number {
  const width = useSignal(before);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    const measure = () => {
      if (element.clientWidth > 0) width.value = Math.floor(element.clientWidth); // what is folded has none
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width.value;
}
