// What is taken along as a picture: the changes, the head's map, and what is said before and after.

import { address } from "../../app/address";
import { heatmapDrawing } from "../../drawing/heatmap_marks";
import { moved, type Drawing, type Mark } from "../../drawing/marks";
import { shown } from "../../drawing/numbers";
import type { Ground } from "../../drawing/palette";
import type { ChangedToken, ChangeFigures } from "../../engine/messages";
import { headMap } from "../../parts/head_map";
import { layoutFor } from "../../parts/Heatmap";
import { shadeOf } from "../../parts/shade";
import { cutsOf, designation, inWords } from "./changes";
import type { Desk } from "./desk";
import { barsOf } from "./places_bars";

const mapRoom = 380;
const saysWide = 420;
const between = 32;
const barWide = 104;
const shareWide = 166; // a bar with its number

export function rolesDrawing(desk: Desk, ground: Ground): Drawing {
  const isChanged = address.value.fields["map"] === "changed" && desk.changes.value.length > 0;
  const head = (isChanged ? desk.headAfter.reply.value : null) ?? desk.head.reply.value;
  const changed = desk.changed.reply.value;
  const chosen = desk.chosen.value;
  const marks: Mark[] = [];
  let left = 0;
  let height = 0;
  if (head && chosen) {
    const name = designation(chosen);
    const map = headMap(head, shadeOf(address.value.fields));
    const layout = layoutFor({ ...map, largest: 44 }, mapRoom);
    const place = chosen.site === "source" ? null : (changed?.place ?? null);
    marks.push({ kind: "label", x: 0, y: 10, text: `Head ${name}${isChanged ? ", changed" : ""}: ${head.shown.word}`, bold: true });
    const struck = cutsOf(desk.changes.value, name).map(({ query, key }) => ({ row: query, column: key }));
    marks.push(...moved(heatmapDrawing({ ...map, struck, framedRow: place }, layout, ground), 0, 24));
    left = Math.max(layout.width, 160) + between;
    height = layout.height + 24;
  }
  if (changed) {
    const says = saysMarks(changed);
    marks.push(...moved(says.marks, left, 0));
    height = Math.max(height, says.height);
  }
  const title = changed?.sentence || `Head ${chosen ? designation(chosen) : ""} of ${desk.inputs.value.model}`;
  return { width: left + saysWide, height: height + 8, title, marks: moved(marks, 4, 4) };
}

export function saysMarks(reply: ChangeFigures): { marks: Mark[]; height: number } {
  const marks: Mark[] = [{ kind: "label", x: 0, y: 10, text: reply.sentence, bold: true }];
  let y = 34;
  for (const change of reply.interventions) {
    marks.push({
      kind: "label",
      x: 0,
      y,
      text: inWords(change, { queries: reply.tokens, keys: reply.tokens }),
      fill: "soft",
    });
    y += 18;
  }
  const isChanged = reply.interventions.length > 0;
  if (isChanged && reply.moved) y = movedMarks(marks, reply.moved, y + 10);
  const bars = isChanged ? barsOf(reply) : null;
  if (bars) y = barMarks(marks, reply.tokens, bars.values, bars.heights, y + 14);
  return { marks, height: y };
}

function movedMarks(marks: Mark[], tokens: readonly ChangedToken[], from: number): number {
  const left = Math.min(Math.max(...tokens.map(({ piece }) => piece.length)) * 8 + 12, saysWide - 2 * shareWide);
  marks.push({ kind: "label", x: left, y: from + 7, text: "untouched", size: 11, fill: "soft" });
  marks.push({ kind: "label", x: left + shareWide, y: from + 7, text: "changed", size: 11, fill: "soft" });
  tokens.forEach(({ piece, before, after }, n) => {
    const y = from + (n + 1) * 22;
    marks.push({ kind: "label", x: left - 10, y: y + 7, text: piece, anchor: "end" });
    marks.push(...shareMarks(left, y, before.probability, "soft"));
    marks.push(...shareMarks(left + shareWide, y, after.probability, "accent"));
  });
  return from + (tokens.length + 1) * 22;
}

function shareMarks(x: number, y: number, probability: number, fill: "soft" | "accent"): Mark[] {
  return [
    { kind: "box", x, y, width: barWide, height: 14, fill: "ground", radius: 3 },
    { kind: "box", x, y, width: barWide * probability, height: 14, fill, radius: 3 },
    { kind: "label", x: x + barWide + 8, y: y + 7, text: shown(probability, 3) },
  ];
}

function barMarks(
  marks: Mark[],
  tokens: readonly string[],
  values: readonly number[],
  heights: readonly number[],
  from: number,
): number {
  const wide = Math.max(...tokens.map((token) => token.length)) * 8 + 14;
  const across = Math.max(Math.floor(saysWide / wide), 1);
  tokens.forEach((token, n) => {
    const middle = ((n % across) + 0.5) * wide;
    const y = from + Math.floor(n / across) * 84;
    const tall = 40 * (heights[n] ?? 0);
    const number = shown(values[n] ?? 0, 2);
    marks.push({ kind: "label", x: middle, y: y + 8, text: token, anchor: "middle" });
    marks.push({ kind: "box", x: middle - 8, y: y + 60 - tall, width: 16, height: tall, fill: "accent", radius: 2 });
    marks.push({ kind: "label", x: middle, y: y + 68, text: number, anchor: "middle", size: 11, fill: "soft" });
  });
  return from + Math.ceil(tokens.length / across) * 84;
}
