// A mouse, a finger or two on the picture: dragging moves it, the wheel and two fingers zoom, a press without moving chooses.

const stillWithin = 5; // pixels
const twiceWithin = 320; // milliseconds
const twiceNear = 24; // pixels

export interface Moves {
  pan: (dx: number, dy: number) => void;
  /** About the pixel (x, y) of the element. */
  zoom: (by: number, x: number, y: number) => void;
  press: (x: number, y: number) => void;
  /** Twice at one place. */
  double: (x: number, y: number) => void;
  point: (x: number, y: number) => void;
  leave: () => void;
}

interface Finger {
  x: number;
  y: number;
}

/** Listens on the element; the result stops that. */
export function listenForGestures(element: HTMLElement, moves: Moves): () => void {
  const fingers = new Map<number, Finger>();
  let travelled = 0;
  let wasMany = false;
  let lastPress = { time: -Infinity, x: 0, y: 0 };

  const placeOf = (event: MouseEvent): Finger => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    if (fingers.size === 0) [travelled, wasMany] = [0, false];
    fingers.set(event.pointerId, placeOf(event));
    if (fingers.size > 1) wasMany = true;
    try {
      element.setPointerCapture(event.pointerId);
    } catch {
      // a pointer that is gone already
    }
  };
  const move = (event: PointerEvent) => {
    const now = placeOf(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") moves.point(now.x, now.y);
      return;
    }
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, now);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    if (travelled <= stillWithin) return;
    if (!other) {
      element.classList.add("dragging");
      moves.pan(now.x - before.x, now.y - before.y);
      return;
    }
    const [was, is] = [Math.hypot(before.x - other.x, before.y - other.y), Math.hypot(now.x - other.x, now.y - other.y)];
    moves.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    if (was > 0 && is > 0) moves.zoom(is / was, (now.x + other.x) / 2, (now.y + other.y) / 2);
  };
  const up = (event: PointerEvent) => {
    if (!fingers.delete(event.pointerId)) return;
    if (fingers.size > 0) return;
    element.classList.remove("dragging");
    if (event.type !== "pointerup" || travelled > stillWithin || wasMany) return;
    const { x, y } = placeOf(event);
    const isTwice = event.timeStamp - lastPress.time < twiceWithin && Math.hypot(x - lastPress.x, y - lastPress.y) < twiceNear;
    lastPress = isTwice ? { time: -Infinity, x, y } : { time: event.timeStamp, x, y };
    if (isTwice) moves.double(x, y);
    else moves.press(x, y);
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const { x, y } = placeOf(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    const strength = event.ctrlKey ? 0.01 : 0.002; // pinching on a touchpad comes with ctrl
    moves.zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY * lines)) * strength), x, y);
  };
  const leave = (event: PointerEvent) => {
    if (event.pointerType !== "touch") moves.leave();
  };
  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("wheel", wheel, { passive: false });
  return () => {
    element.removeEventListener("pointerdown", down);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", up);
    element.removeEventListener("pointerleave", leave);
    element.removeEventListener("wheel", wheel);
  };
}
