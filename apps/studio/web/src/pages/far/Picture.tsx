// The picture: a canvas that is painted whenever something that it shows has changed, at most once a frame.

import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { address } from "../../app/address";
import { ground, narrow, projector } from "../../app/theme";
import { grouped } from "../../drawing/amounts";
import { palettes } from "../../drawing/palette";
import { levelAt, seenArea, type Spot } from "../../drawing/tiles";
import { sharpCanvas } from "../../parts/sharp_canvas";
import { listenForGestures } from "./gestures";
import { narrowGutter, paintScene, projectorGutter, wideGutter, type Gutter, type Scene } from "./paint";
import { bandQueries, wantedTiles } from "./plan";
import { cellAt, centreOf, panned, spotAt, zoomed } from "./view";
import { isWalked } from "./walk";
import type { Desk, Opened } from "./desk";

function gutterNow(): Gutter {
  if (narrow.value) return narrowGutter;
  return projector.value ? projectorGutter : wideGutter;
}

export function sceneOf(desk: Desk, here: Opened): Scene | null {
  const [view, size] = [desk.view.value, desk.size.value];
  if (!view || !size) return null;
  const row = desk.row.reply.value;
  const spot = desk.pointed.value;
  return {
    view,
    size,
    gutter: gutterNow(),
    matrix: here.matrix,
    shown: desk.shown.value,
    ground: ground.value,
    palette: palettes[ground.value],
    held: (tile) => here.queue.get(tile),
    whole: here.walk.whole.value,
    query: desk.query.value,
    key: desk.key.value,
    topKeys: row && row.query === desk.query.value ? row.top.map(({ key }) => key) : [],
    found: address.value.fields["find"] ? (desk.find.reply.value?.places.map(({ key }) => key) ?? []) : [],
    pointed: spot && { query: Math.floor(spot.query), key: Math.floor(spot.key) },
  };
}

/** The tiles for the place where the reader is, or will be. */
function bring(desk: Desk, here: Opened): void {
  const [aim, size] = [desk.aim.value, desk.size.value];
  if (!aim || !size) return;
  const done = here.walk.done.value;
  const walked = (from: number, to: number) => isWalked(done, bandQueries(here.matrix), from, to);
  const focus: Spot = desk.pointed.peek() ?? centreOf(aim, size);
  here.queue.want(wantedTiles(aim, size, here.matrix, focus, walked));
}

export function FarPicture({ desk }: { desk: Desk }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const gutter = gutterNow();

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      const [width, height] = [Math.floor(element.clientWidth) - gutter.left, Math.floor(element.clientHeight) - gutter.top];
      const now = desk.size.peek();
      if (width > 20 && height > 20 && (now?.width !== width || now.height !== height)) desk.size.value = { width, height };
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [gutter]);

  useLayoutEffect(() => {
    let frame = 0;
    const paint = () => {
      frame = 0;
      const here = desk.opened.peek();
      const scene = here && sceneOf(desk, here);
      if (!here || !scene) return;
      const { size } = scene;
      const context = sharpCanvas(canvas.current, scene.gutter.left + size.width, scene.gutter.top + size.height);
      if (!context) return;
      const { exact } = paintScene(context, scene);
      here.walk.begin(); // not before, or the first picture would wait for the processor
      desk.isExact.value = exact;
      const element = box.current;
      if (!element) return;
      const rests = here.queue.settled && desk.view.peek() === desk.aim.peek();
      element.dataset["rests"] = String(rests);
      element.dataset["settled"] = String(rests && exact);
    };
    const stopPainting = effect(() => {
      const here = desk.opened.value;
      if (!here) return;
      void desk.arrived.value;
      sceneOf(desk, here); // asks for all signals that the picture depends on
      void desk.aim.value;
      if (!frame) frame = requestAnimationFrame(paint);
    });
    const stopBringing = effect(() => {
      const here = desk.opened.value;
      if (here) bring(desk, here);
    });
    addEventListener("beforeprint", paint); // no frame comes before paper does
    return () => {
      removeEventListener("beforeprint", paint);
      stopPainting();
      stopBringing();
      cancelAnimationFrame(frame);
    };
  }, [desk]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const inside = (x: number, y: number) => ({ x: x - gutter.left, y: y - gutter.top });
    const withView = (does: (here: Opened) => void) => {
      const here = desk.opened.peek();
      if (here && desk.view.peek() && desk.size.peek()) does(here);
    };
    return listenForGestures(element, {
      pan: (dx, dy) => withView(({ matrix }) => desk.look(panned(desk.view.peek()!, dx, dy, matrix, desk.size.peek()!))),
      zoom: (by, x, y) => withView(({ matrix }) => {
        const at = inside(x, y);
        desk.look(zoomed(desk.view.peek()!, by, at.x, at.y, matrix, desk.size.peek()!));
      }),
      double: (x, y) => withView(({ matrix }) => {
        const at = inside(x, y);
        desk.fly(zoomed(desk.view.peek()!, 4, at.x, at.y, matrix, desk.size.peek()!));
      }),
      press: (x, y) => {
        const at = inside(x, y);
        if (at.x < 0 && at.y < 0) return;
        pressAt(desk, spotAt(desk.view.peek()!, at.x, at.y), at.x < 0);
      },
      point: (x, y) => {
        const at = inside(x, y);
        const view = desk.view.peek();
        desk.pointed.value = view && at.x >= 0 && at.y >= 0 ? spotAt(view, at.x, at.y) : null;
      },
      leave: () => (desk.pointed.value = null),
    });
  }, [desk, gutter]);

  return (
    <div
      class="far-picture"
      ref={box}
      style={{ "--left": `${gutter.left}px`, "--top": `${gutter.top}px` }}
      tabIndex={0}
      role="application"
      aria-label={summary(desk)}
      aria-describedby="far-where"
      onKeyDown={(event) => {
        const [view, size] = [desk.view.peek(), desk.size.peek()];
        if (event.key !== "Enter" || !view || !size) return;
        event.preventDefault();
        pressAt(desk, centreOf(view, size));
      }}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </div>
  );
}

function summary(desk: Desk): string {
  const reply = desk.opened.value?.reply;
  if (!reply) return "The matrix";
  return `${grouped(reply.queries)} × ${grouped(reply.keys)} weights, as a map: arrows move it, plus and minus zoom, Enter takes the pair in the middle`;
}

/** A press takes the pair; in a cell of many pairs, the one of the largest weight. */
export function pressAt(desk: Desk, spot: Spot, isRow = false): void {
  const here = desk.opened.peek();
  const view = desk.view.peek();
  if (!here || !view) return;
  const [query, key] = [Math.floor(spot.query), Math.floor(spot.key)];
  if (query < 0 || query >= here.matrix.queries) return;
  if (isRow || key < 0 || key >= here.matrix.keys) return isRow ? desk.choose(query, null) : undefined;
  const level = levelAt(view.scale, here.matrix.levels);
  if (level === 0) desk.choose(query, key);
  else desk.chooseCell(cellAt(spot, level, here.matrix));
}

/** What is in view, for whoever does not see it. */
export function whereText(desk: Desk): string {
  const [here, view, size] = [desk.opened.value, desk.view.value, desk.size.value];
  if (!here || !view || !size) return "";
  const area = seenArea(view, size, here.matrix);
  const last = (to: number) => Math.max(Math.ceil(to) - 1, 0);
  return `Queries ${grouped(Math.floor(area.fromQuery))} to ${grouped(last(area.toQuery))}, keys ${grouped(Math.floor(area.fromKey))} to ${grouped(last(area.toKey))}`;
}
