// Pointing at places of a picture: a mouse previews, clicks to lock and double clicks to open; a finger taps to preview,
// taps the same place again to lock, and holds to open.

import { useRef } from "preact/hooks";
import type { ReadonlySignal, Signal } from "@preact/signals";
import type { Place } from "./one_cell";

const holdTime = 550; // milliseconds
const stillWithin = 10; // pixels

export interface Pressed {
  pointed: Signal<Place | null>;
  locked: ReadonlySignal<Place | null>;
  onLock: (place: Place | null) => void;
  onOpen: (place: Place) => void;
}

export function samePlace(a: Place | null, b: Place | null): boolean {
  return a === b || (a !== null && b !== null && a.row === b.row && a.column === b.column);
}

interface Finger {
  place: Place | null;
  x: number;
  y: number;
  hold: ReturnType<typeof setTimeout>;
}

export function usePressing(toPlace: (event: MouseEvent) => Place | null, pressed: Pressed) {
  const finger = useRef<Finger | null>(null);
  const lastWasFinger = useRef(false); // two taps are no double click
  const drop = () => {
    if (finger.current) clearTimeout(finger.current.hold);
    finger.current = null;
  };
  const point = (place: Place | null) => {
    if (!samePlace(pressed.pointed.value, place)) pressed.pointed.value = place;
  };
  const tap = (place: Place | null) => {
    if (!place) return point(null);
    if (samePlace(pressed.pointed.value, place)) pressed.onLock(place);
    else point(place);
  };
  return {
    onPointerMove: (event: PointerEvent) => {
      if (event.pointerType !== "touch") return point(toPlace(event));
      const { current } = finger;
      if (current && Math.hypot(event.clientX - current.x, event.clientY - current.y) > stillWithin) drop();
    },
    onPointerLeave: (event: PointerEvent) => {
      if (event.pointerType !== "touch") point(null);
    },
    onPointerDown: (event: PointerEvent) => {
      lastWasFinger.current = event.pointerType === "touch";
      if (!lastWasFinger.current) return;
      const place = toPlace(event);
      const open = () => {
        drop();
        if (place) pressed.onOpen(place);
      };
      finger.current = { place, x: event.clientX, y: event.clientY, hold: setTimeout(open, holdTime) };
    },
    onPointerUp: (event: PointerEvent) => {
      if (event.pointerType !== "touch" || !finger.current) return;
      const { place } = finger.current;
      drop();
      tap(place);
    },
    onPointerCancel: drop,
    onContextMenu: (event: MouseEvent) => {
      if (finger.current) event.preventDefault();
    },
    onClick: (event: MouseEvent) => {
      if (lastWasFinger.current) return;
      const place = toPlace(event);
      pressed.onLock(samePlace(place, pressed.locked.value) ? null : place);
    },
    onDblClick: (event: MouseEvent) => {
      const place = lastWasFinger.current ? null : toPlace(event);
      if (place) pressed.onOpen(place);
    },
  };
}
