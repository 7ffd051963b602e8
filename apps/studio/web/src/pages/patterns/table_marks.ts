// The table of positions as marks: a row for each position, or a cell for each pair.

import { coloured, type Scale } from "../../drawing/colour";
import { blockOf, ticksOf, type GridPlace } from "../../drawing/grid";
import type { Mark } from "../../drawing/marks";
import type { Ground } from "../../drawing/palette";
import type { PositionsReply } from "../../engine/messages";
import { sizeOf, valueAt } from "../../engine/tensor";
import type { GridPicture } from "./mask_marks";
import type { Kind } from "./positions_state";

const [marginLeft, marginTop, marginRight, marginBottom] = [84, 46, 8, 8];

export const faded = -8; // the palest colour: the same for all heads, so that they can be compared

export function tableScale(kind: Kind, reply: PositionsReply): Scale {
  if (kind === "sinusoidal" || kind === "rotary") return { map: "diverging", least: -1, most: 1 };
  if (kind === "alibi") return { map: "sequential", least: faded, most: 0 };
  return { map: "sequential", least: 0, most: Math.max(...Array.from(reply.table.values, Number)) };
}

/** A row that is looked at gets a frame. */
export function tablePicture(
  reply: PositionsReply,
  scale: Scale,
  framed: number | null,
  width: number,
  ground: Ground,
): GridPicture {
  const size = sizeOf(reply.table);
  const wide = Math.max(width - marginLeft - marginRight, 60);
  const cellWide = Math.min(wide / size.columns, 34);
  const square = size.rows === size.columns;
  const cellTall = square ? cellWide : Math.min(Math.max(430 / size.rows, 2), 22);
  const place: GridPlace = { left: marginLeft, top: marginTop, cellWide, cellTall, ...size };
  const marks: Mark[] = [];
  for (let row = 0; row < size.rows; ++row) marks.push(...rowMarks(reply, scale, place, row, ground));
  if (framed !== null) {
    marks.push({
      kind: "box",
      x: place.left - 2,
      y: place.top + framed * cellTall - 1,
      width: size.columns * cellWide + 4,
      height: cellTall + 2,
      stroke: "ink",
      thick: 2,
    });
  }
  marks.push(...axisMarks(reply, place));
  return {
    drawing: {
      width: place.left + size.columns * cellWide + marginRight,
      height: place.top + size.rows * cellTall + marginBottom,
      title: `${reply.title}: ${size.rows} × ${size.columns}, a row is a ${reply.rows}, a column a ${reply.columns}`,
      marks,
    },
    place,
  };
}

// Equal neighbours are one box: tables of pairs have long runs.
function rowMarks(reply: PositionsReply, scale: Scale, place: GridPlace, row: number, ground: Ground): Mark[] {
  const marks: Mark[] = [];
  for (let column = 0; column < place.columns;) {
    const value = valueAt(reply.table, row, column);
    let end = column + 1;
    while (end < place.columns && valueAt(reply.table, row, end) === value) ++end;
    marks.push({ ...blockOf(place, row, column, row + 1, end), fill: coloured(scale, value, ground) });
    column = end;
  }
  return marks;
}

function axisMarks(reply: PositionsReply, place: GridPlace): Mark[] {
  const marks: Mark[] = [
    {
      kind: "label",
      x: place.left,
      y: 11,
      text: `${reply.columns.split(":")[0]} →`,
      bold: true,
      ...(reply.columns === "key" ? { fill: "k" as const } : {}),
    },
    {
      kind: "label",
      x: place.left - 8,
      y: 11,
      text: `${reply.rows} ↓`,
      bold: true,
      anchor: "end",
      ...(reply.rows === "query" ? { fill: "q" as const } : {}),
    },
  ];
  for (const column of ticksOf(place.columns, Math.max(Math.floor((place.columns * place.cellWide) / 34), 1))) {
    marks.push({
      kind: "label",
      x: place.left + (column + 0.5) * place.cellWide,
      y: 33,
      text: String(column),
      anchor: "middle",
      size: 12,
      fill: "soft",
    });
  }
  for (const row of ticksOf(place.rows, Math.max(Math.floor((place.rows * place.cellTall) / 20), 1))) {
    marks.push({
      kind: "label",
      x: place.left - 8,
      y: place.top + (row + 0.5) * place.cellTall,
      text: String(row),
      anchor: "end",
      size: 12,
      fill: "soft",
    });
  }
  return marks;
}
