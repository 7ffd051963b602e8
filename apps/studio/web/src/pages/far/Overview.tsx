// All of the matrix, small, with a frame about what is seen; a press goes there.

import { useEffect, useRef } from "preact/hooks";
import { ground } from "../../app/theme";
import { palettes } from "../../drawing/palette";
import { grouped } from "../../drawing/amounts";
import { seenArea } from "../../drawing/tiles";
import { sharpCanvas } from "../../parts/sharp_canvas";
import { listenForGestures } from "./gestures";
import { pictureOf } from "./held";
import { bounded, centred, centreOf, wholeScale } from "./view";
import type { Desk, Opened } from "./desk";

const side = 150;

function sizeOf({ matrix }: Opened) {
  const scale = side / Math.max(matrix.queries, matrix.keys);
  return { scale, width: Math.max(20, matrix.keys * scale), height: Math.max(20, matrix.queries * scale) };
}

export function Overview({ desk, here }: { desk: Desk; here: Opened }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = sizeOf(here);
  const [view, size] = [desk.view.value, desk.size.value];
  const whole = here.walk.whole.value;

  useEffect(() => {
    const context = sharpCanvas(canvas.current, width, height);
    if (!context || !view || !size) return;
    const palette = palettes[ground.value];
    context.fillStyle = palette.ground;
    context.fillRect(0, 0, width, height);
    const picture = pictureOf(whole, desk.shown.value, ground.value);
    context.imageSmoothingEnabled = picture !== null && picture.width > width; // a few large cells keep their edges
    if (picture) context.drawImage(picture, 0, 0, width, height);
    const area = seenArea(view, size, here.matrix);
    const [sx, sy] = [width / here.matrix.keys, height / here.matrix.queries];
    const frame = [area.fromKey * sx, area.fromQuery * sy, Math.max((area.toKey - area.fromKey) * sx, 6), Math.max((area.toQuery - area.fromQuery) * sy, 6)] as const;
    for (const [thick, colour] of [[4, palette.paper], [2, palette.accent]] as const) {
      context.strokeStyle = colour;
      context.lineWidth = thick;
      context.strokeRect(...frame);
    }
  });

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const to = (x: number, y: number, flies: boolean) => {
      const [now, room] = [desk.view.peek(), desk.size.peek()];
      if (!now || !room) return;
      const { width: wide, height: tall } = sizeOf(here);
      const at = { query: (y / tall) * here.matrix.queries, key: (x / wide) * here.matrix.keys };
      const isAll = now.scale <= wholeScale(here.matrix, room) * 1.001;
      const next = bounded(centred(at, isAll ? now.scale * 4 : now.scale, room), here.matrix, room);
      if (flies) desk.fly(next);
      else desk.look(next);
    };
    return listenForGestures(element, {
      press: (x, y) => to(x, y, true),
      double: (x, y) => to(x, y, true),
      pan: (dx, dy) => {
        const [now, room] = [desk.view.peek(), desk.size.peek()];
        if (!now || !room) return;
        const centre = centreOf(now, room);
        const { width: wide, height: tall } = sizeOf(here);
        const moved = { query: centre.query + (dy / tall) * here.matrix.queries, key: centre.key + (dx / wide) * here.matrix.keys };
        desk.look(bounded(centred(moved, now.scale, room), here.matrix, room));
      },
      zoom: () => undefined,
      point: () => undefined,
      leave: () => undefined,
    });
  }, [desk, here]);

  return (
    <section class="card overview-card" aria-label="All of it">
      <canvas ref={canvas} role="img" aria-label="The whole matrix; a frame shows the part that is seen" />
      <p class="note">
        All {grouped(here.matrix.queries)} × {grouped(here.matrix.keys)} weights. The frame is what you see; click to go there.
      </p>
    </section>
  );
}
