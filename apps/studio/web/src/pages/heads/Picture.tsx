// The picture that a model sees, in its own colours: patches that are not read sink under a veil.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ground } from "../../app/theme";
import { paintMarks } from "../../drawing/canvas";
import { palettes } from "../../drawing/palette";
import { pixelBytes } from "../../drawing/pixel_bytes";
import { shown } from "../../drawing/numbers";
import type { HeadReply, HeadsReply, HeadsSite } from "../../engine/messages";
import { valueAt, type Tensor } from "../../engine/tensor";
import { cellId, OneCell, placeAfter } from "../../parts/one_cell";
import { sharpCanvas } from "../../parts/sharp_canvas";
import { useWidth } from "../../parts/use_width";
import type { Desk } from "./desk";
import { patchAt, patchesOf, spotOf } from "./patches";
import { cellShown, pictureMarks } from "./picture_marks";
import { heaviestKey } from "./row";
import type { Cell } from "./state";

const largest = 420; // pixels

interface PictureProps {
  desk: Desk;
  all: HeadsReply;
  site: HeadsSite;
  reply: HeadReply;
  image: Tensor;
}

export function Picture({ desk, all, site, reply, image }: PictureProps) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = Math.min(useWidth(frame), largest);
  const bytes = useMemo(() => pixelBytes(image), [image]);
  const patches = patchesOf(all.patches, reply.keys.length);
  const cell = cellShown(desk.shown.value, all, site, reply);

  useLayoutEffect(() => {
    const context = sharpCanvas(canvas.current, size, size);
    if (!context || size === 0) return;
    paintMarks(context, pictureMarks({ all, site, head: reply, cell, image, bytes }, size), palettes[ground.value]);
  });

  // A patch asks where patches read patches; else the word stays, and the patch is read.
  const cellOf = (place: number): Cell =>
    site.asks_from_patches ? { query: place, key: heaviestKey(reply.weights, place) } : { query: cell.query, key: place };
  const under = (event: MouseEvent): number | null => {
    const box = canvas.current?.getBoundingClientRect();
    return box ? patchAt(patches, (event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height) : null;
  };
  const spot = spotOf(patches, site.asks_from_patches ? cell.query : cell.key) ?? { row: 0, column: 0 };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = placeAfter(event.key, spot, patches.side, patches.side);
    const place = (at: { row: number; column: number }) => patches.first + at.row * patches.side + at.column;
    if (next) desk.hover.value = cellOf(place(next));
    else if (event.key === "Enter") desk.lock(cellOf(place(spot)));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const asker = site.asks_from_patches ? `patch ${cell.query}` : reply.queries[cell.query];
  return (
    <div class="seen-picture" ref={frame}>
      <div
        role="grid"
        tabIndex={0}
        aria-label={`The picture, ${patches.side} × ${patches.side} patches`}
        aria-rowcount={patches.side}
        aria-colcount={patches.side}
        aria-activedescendant={cellId("patch", spot)}
        onKeyDown={onKeyDown}
        onBlur={() => (desk.hover.value = null)}
      >
        <canvas
          ref={canvas}
          aria-hidden="true"
          onPointerMove={(event) => {
            const place = under(event);
            if (event.pointerType !== "touch") desk.hover.value = place === null ? null : cellOf(place);
          }}
          onPointerLeave={() => (desk.hover.value = null)}
          onClick={(event) => {
            const place = under(event);
            if (place !== null) desk.lock(cellOf(place));
          }}
        />
        <OneCell
          id="patch"
          rows={patches.side}
          columns={patches.side}
          at={spot}
          text={`${asker} reads patch ${cell.key}: ${shown(valueAt(reply.weights, cell.query, cell.key), 3)}`}
        />
      </div>
      <p class="note">
        What <b class="q">{asker}</b> reads is clear, the rest lies under a veil.{" "}
        {site.asks_from_patches ? "Point at a patch: what does it read?" : "Point at a patch for its weight."}
      </p>
    </div>
  );
}
