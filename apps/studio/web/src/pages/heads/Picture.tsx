// The picture that a model sees, in its own colours: patches that are not read sink under a veil.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ground } from "../../app/theme";
import { palettes } from "../../drawing/palette";
import { shown } from "../../drawing/numbers";
import type { HeadReply, HeadsReply, HeadsSite } from "../../engine/messages";
import { rowOf, valueAt, type Tensor } from "../../engine/tensor";
import { cellId, OneCell, placeAfter } from "../../parts/one_cell";
import { sharpCanvas } from "../../parts/sharp_canvas";
import { useWidth } from "../../parts/use_width";
import type { Desk } from "./desk";
import { patchAt, patchesOf, spotOf, veils, type Patches } from "./patches";
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
  const pixels = useMemo(() => pixelsOf(image), [image]);
  const patches = patchesOf(all.patches, reply.keys.length);
  const cell = desk.shown.value ?? { query: site.asks_from_patches ? patches.first : 0, key: patches.first };

  useLayoutEffect(() => {
    const context = sharpCanvas(canvas.current, size, size);
    if (!context || !pixels || size === 0) return;
    context.imageSmoothingEnabled = false;
    context.drawImage(pixels, 0, 0, size, size);
    paintVeil(context, size, patches, rowOf(reply.weights, cell.query), palettes[ground.value].ground);
    const { q, k } = palettes[ground.value];
    frameSpot(context, size, patches, cell.key, k);
    if (site.asks_from_patches) frameSpot(context, size, patches, cell.query, q);
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

function pixelsOf(image: Tensor): HTMLCanvasElement | null {
  const [height = 0, width = 0] = image.shape;
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) return null;
  const data = context.createImageData(width, height);
  for (let n = 0; n < width * height; ++n) {
    for (let c = 0; c < 3; ++c) data.data[4 * n + c] = Number(image.values[3 * n + c]);
    data.data[4 * n + 3] = 255;
  }
  context.putImageData(data, 0, 0);
  return canvas;
}

function paintVeil(context: CanvasRenderingContext2D, size: number, patches: Patches, row: readonly number[], colour: string): void {
  const wide = size / patches.side;
  context.fillStyle = colour;
  veils(patches, row).forEach((thick, n) => {
    context.globalAlpha = thick;
    context.fillRect((n % patches.side) * wide, Math.floor(n / patches.side) * wide, wide, wide);
  });
  context.globalAlpha = 1;
}

function frameSpot(context: CanvasRenderingContext2D, size: number, patches: Patches, place: number, colour: string): void {
  const spot = spotOf(patches, place);
  if (!spot) return;
  const wide = size / patches.side;
  context.strokeStyle = colour;
  context.lineWidth = 3;
  context.strokeRect(spot.column * wide + 1.5, spot.row * wide + 1.5, wide - 3, wide - 3);
}
