// The map of a mask as marks: kept pairs coloured by their share, hidden ones hatched, partial tiles outlined.

import { grouped, percent } from "../../drawing/amounts";
import { coloured, type Scale } from "../../drawing/colour";
import { blockOf, ticksOf, type GridPlace } from "../../drawing/grid";
import { hatch, type Box, type Drawing, type Mark, type Paint } from "../../drawing/marks";
import type { Ground } from "../../drawing/palette";
import { sizeOf, valueAt } from "../../engine/tensor";
import { isPairwise, rowOfQuery, tilesOf, type DrawnMask } from "./mask_cells";

export const shareScale: Scale = { map: "sequential", least: 0, most: 1 };
export const alarm: Record<Ground, Paint> = { light: "#a3241b", dark: "#ff9b8f" };

const [marginLeft, marginTop, marginRight, marginBottom] = [76, 46, 10, 8];
const [flattest, tallest] = [0.12, 1.25]; // height of the map over its width

export interface GridPicture {
  drawing: Drawing;
  place: GridPlace;
}

export function placeOf(reply: DrawnMask, width: number): GridPlace {
  const { rows, columns } = sizeOf(reply.share);
  const wide = Math.max(width - marginLeft - marginRight, 60);
  const ratio = Math.min(Math.max(reply.tq / reply.tk, flattest), tallest);
  const largest = 44; // pixels of a cell
  const cellWide = Math.min(wide / columns, largest);
  const cellTall = Math.min((wide * ratio) / rows, largest);
  return { left: marginLeft, top: marginTop, cellWide, cellTall, rows, columns };
}

export function maskPicture(reply: DrawnMask, width: number, ground: Ground): GridPicture {
  const place = placeOf(reply, width);
  const [wide, tall] = [place.columns * place.cellWide, place.rows * place.cellTall];
  const marks: Mark[] = [
    { kind: "box", x: place.left, y: place.top, width: wide, height: tall, fill: "ground" },
    ...hatch(place.left, place.top, wide, tall, 7),
    ...(isPairwise(reply) ? veils(reply, place) : []),
    ...runs(reply, place, ground),
    ...outlines(reply, place),
    { kind: "box", x: place.left, y: place.top, width: wide, height: tall, stroke: "soft", thick: 1 },
    ...axes(reply, place),
    ...blindRows(reply, place, ground),
  ];
  const summary = `${place.rows} × ${place.columns} cells, ${percent(reply.coverage)} of the pairs kept`;
  return {
    drawing: {
      width: place.left + wide + marginRight,
      height: place.top + tall + marginBottom,
      title: `Who sees whom under ${reply.mask}: ${summary}`,
      marks,
    },
    place,
  };
}

// Hidden pairs of a tile that is computed all the same: a weaker hatch.
function veils(reply: DrawnMask, place: GridPlace): Mark[] {
  return tilesOf(reply)
    .filter(({ kind }) => kind === "partial")
    .map(
      ({ tile }) =>
        ({
          ...blockOf(place, tile.top, tile.left, tile.bottom, tile.right),
          fill: "paper",
          opacity: 0.65,
        }) satisfies Mark,
    );
}

// Equal neighbours of a row are one box, unless cells are large enough to stand apart.
function runs(reply: DrawnMask, place: GridPlace, ground: Ground): Mark[] {
  const marks: Mark[] = [];
  const apart = Math.min(place.cellWide, place.cellTall) >= 12;
  for (let row = 0; row < place.rows; ++row) {
    for (let column = 0; column < place.columns;) {
      const share = valueAt(reply.share, row, column);
      let end = column + 1;
      while (!apart && end < place.columns && valueAt(reply.share, row, end) === share) ++end;
      if (share > 0) {
        const box = blockOf(place, row, column, row + 1, end);
        const gap = apart ? 1 : 0;
        if (apart) marks.push({ ...box, fill: "paper" });
        marks.push({
          ...box,
          width: box.width - gap,
          height: box.height - gap,
          fill: coloured(shareScale, share, ground),
        });
      }
      column = end;
    }
  }
  return marks;
}

function outlines(reply: DrawnMask, place: GridPlace): Mark[] {
  if (isPairwise(reply)) {
    return tilesOf(reply)
      .filter(({ kind }) => kind === "partial")
      .map(({ tile }) => blockOf(place, tile.top, tile.left, tile.bottom, tile.right))
      .flatMap((box) => [{ ...inset(box, 5), stroke: "paper" } satisfies Mark, inset(box, 2)]);
  }
  const marks: Mark[] = [];
  const thick = Math.min(place.cellWide, place.cellTall) >= 9 ? 2 : 1;
  for (let row = 0; row < place.rows; ++row) {
    for (let column = 0; column < place.columns; ++column) {
      const share = valueAt(reply.share, row, column);
      if (share > 0 && share < 1) marks.push(inset(blockOf(place, row, column, row + 1, column + 1), thick));
    }
  }
  return marks;
}

function inset(box: ReturnType<typeof blockOf>, thick: number): Box {
  const by = thick / 2;
  return {
    ...box,
    x: box.x + by,
    y: box.y + by,
    width: box.width - thick,
    height: box.height - thick,
    stroke: "ink",
    thick,
  };
}

function tick(from: [number, number], to: [number, number]): Mark {
  return { kind: "line", points: [from, to], stroke: "soft", thick: 1 };
}

function axes(reply: DrawnMask, place: GridPlace): Mark[] {
  const [wide, tall] = [place.columns * place.cellWide, place.rows * place.cellTall];
  const marks: Mark[] = [
    { kind: "label", x: place.left, y: 11, text: "key →", fill: "k", bold: true },
    { kind: "label", x: place.left - 8, y: 11, text: "query ↓", fill: "q", bold: true, anchor: "end" },
  ];
  const pairs = isPairwise(reply);
  const most = (pixels: number, room: number) => Math.max(Math.floor(pixels / room), 1);
  for (const key of ticksOf(reply.tk, most(wide, pairs ? 24 : 62))) {
    const x = place.left + ((key + (pairs ? 0.5 : 0)) / reply.tk) * wide;
    marks.push({
      kind: "label",
      x,
      y: 33,
      text: grouped(key),
      anchor: pairs ? "middle" : "start",
      size: 12,
      fill: "soft",
    });
    if (!pairs) marks.push(tick([x, 40], [x, place.top]));
  }
  for (const query of ticksOf(reply.tq, most(tall, pairs ? 18 : 40))) {
    const y = place.top + ((query + (pairs ? 0.5 : 0)) / reply.tq) * tall;
    marks.push({
      kind: "label",
      x: place.left - (pairs ? 16 : 10),
      y: pairs ? y : y + 7,
      text: grouped(query),
      anchor: "end",
      size: 12,
      fill: "soft",
    });
    if (!pairs) marks.push(tick([place.left - 6, y], [place.left, y]));
  }
  return marks;
}

// An arrow head at each row of cells in which a named query sees nothing.
function blindRows(reply: DrawnMask, place: GridPlace, ground: Ground): Mark[] {
  const rows = [...new Set(reply.first_blind.map((query) => rowOfQuery(reply, query)))];
  return rows.map((row) => {
    const y = place.top + (row + 0.5) * place.cellTall;
    const x = place.left - 1;
    return {
      kind: "line",
      points: [
        [x - 8, y - 5],
        [x, y],
        [x - 8, y + 5],
      ],
      fill: alarm[ground],
      stroke: alarm[ground],
      thick: 1,
    };
  });
}

/** What a cell of each class looks like, for the legend. */
export function swatch(kind: "skip" | "full" | "partial", ground: Ground): Mark[] {
  const box = { kind: "box", x: 0.5, y: 0.5, width: 19, height: 19 } as const;
  if (kind === "skip")
    return [{ ...box, fill: "ground" }, ...hatch(1, 1, 18, 18, 7), { ...box, stroke: "soft", thick: 1 }];
  const fill = coloured(shareScale, kind === "full" ? 1 : 0.5, ground);
  return kind === "full" ? [{ ...box, fill }] : [{ ...box, fill }, inset({ ...box }, 2)];
}
