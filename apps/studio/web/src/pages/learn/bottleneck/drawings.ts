// A text through one vector, and with attention, as far as it has been read and written.

import { coloured, type Scale } from "../../../drawing/colour";
import type { Drawing, Mark, Paint } from "../../../drawing/marks";
import type { Ground } from "../../../drawing/palette";
import type { BottleneckAnswer, BottleneckReply } from "../../../engine/messages";
import { sizeOf, valueAt, type Tensor } from "../../../engine/tensor";

export interface Look {
  reply: BottleneckReply;
  /** Letters read and then letters written: 0 to twice as many as there are. */
  at: number;
  width: number;
  ground: Ground;
}

const faults: Record<Ground, Paint> = { light: "#a3241b", dark: "#ff9b8f" };
const rowTall = 30;
const edge = 2;

export function countsAt({ reply, at }: Look): { read: number; written: number } {
  const count = reply.letters.length;
  return { read: Math.min(Math.floor(at + 1e-9), count), written: Math.max(Math.floor(at + 1e-9) - count, 0) };
}

/** "5 of 23 letters read", "all read, 3 of 23 written". */
export function saysAt(reply: BottleneckReply, at: number): string {
  const count = reply.letters.length;
  const whole = Math.floor(at + 1e-9);
  return whole <= count ? `${whole} of ${count} letters read` : `all read, ${whole - count} of ${count} written`;
}

function cellWide({ reply, width }: Look): number {
  return (width - 2 * edge) / reply.letters.length;
}

function letterMarks(look: Look, y: number, read: number): Mark[] {
  const wide = cellWide(look);
  const size = Math.min(17, wide * 1.1);
  return look.reply.letters.flatMap((letter, t): Mark[] => {
    const x = edge + t * wide;
    const now = t === read - 1 && read < look.reply.letters.length;
    const box: Mark = { kind: "box", x: x + 1, y, width: wide - 2, height: rowTall - 4, radius: 4, fill: "ground", stroke: now ? "accent" : "rule", thick: now ? 2 : 1 };
    return [box, { kind: "label", x: x + wide / 2, y: y + rowTall / 2 - 2, text: letter, anchor: "middle", size, bold: now, opacity: t < read ? 1 : 0.45 }];
  });
}

function answerMarks(look: Look, answer: BottleneckAnswer, y: number, written: number): Mark[] {
  const wide = cellWide(look);
  const size = Math.min(17, wide * 1.1);
  const fault = faults[look.ground];
  return answer.letters.flatMap((letter, t): Mark[] => {
    const x = edge + t * wide;
    const place = { x: x + 1, y, width: wide - 2, height: rowTall - 4 };
    if (t >= written) return [{ kind: "box", ...place, radius: 4, stroke: "rule", thick: 1, dashed: true }];
    const right = answer.right[t] === true;
    const marks: Mark[] = [{ kind: "box", ...place, radius: 4, fill: right ? "v" : fault, opacity: 0.16 }];
    marks.push({ kind: "box", ...place, radius: 4, stroke: right ? "v" : fault, thick: 1.5, dashed: !right });
    marks.push({ kind: "label", x: x + wide / 2, y: y + rowTall / 2 - 2, text: letter, anchor: "middle", size, bold: true, fill: right ? "v" : fault });
    if (!right) {
      marks.push({ kind: "line", points: [[x + 3, y + rowTall - 7], [x + wide - 3, y + 3]], stroke: fault, thick: 1, opacity: 0.7 });
    }
    return marks;
  });
}

function title(x: number, y: number, text: string): Mark {
  return { kind: "label", x, y, text, size: 13, fill: "soft", halo: true };
}

/** Where each letter's part of the vector begins and ends, in shares of the whole, between two states. */
export function partsAt(share: Tensor, at: number): [number, number][] {
  const { rows } = sizeOf(share);
  const read = Math.min(at, rows);
  const [low, high] = [Math.max(Math.floor(read) - 1, -1), Math.min(Math.ceil(read) - 1, rows - 1)];
  const part = read - Math.floor(read);
  let end = 0;
  return Array.from({ length: rows }, (_, t) => {
    const of = (row: number) => (row < 0 ? 0 : valueAt(share, row, t));
    const wide = low === high ? of(high) : of(low) * (1 - part) + of(high) * part;
    const begin = end;
    end += wide;
    return [begin, end];
  });
}

export function vectorDrawing(look: Look): Drawing {
  const { reply, at, width, ground } = look;
  const { read, written } = countsAt(look);
  const wide = cellWide(look);
  const boxTop = 112;
  const stripTop = boxTop + 34;
  const answerTop = stripTop + 78;
  const marks: Mark[] = [title(edge, 8, "read, letter by letter"), ...letterMarks(look, 20, read)];
  const parts = partsAt(reply.share, at);
  const inside = width - 2 * edge;
  parts.forEach(([begin, end], t) => {
    if (end <= begin) return;
    const [left, right] = [edge + begin * inside, edge + end * inside];
    const x = edge + t * wide;
    const corners: [number, number][] = [[x + 3, 46], [x + wide - 3, 46], [right, boxTop], [left, boxTop], [x + 3, 46]];
    marks.push({ kind: "line", points: corners, fill: "k", opacity: 0.12 });
    marks.push({ kind: "box", x: left, y: boxTop, width: right - left, height: 28, fill: "k", opacity: 0.16 + 0.2 * (t % 2) });
    const size = Math.min(15, (right - left) * 1.1);
    if (size >= 8) marks.push({ kind: "label", x: (left + right) / 2, y: boxTop + 14, text: reply.letters[t] ?? "", anchor: "middle", size, bold: true });
  });
  marks.push({ kind: "box", x: edge, y: boxTop, width: inside, height: 28, radius: 3, stroke: "k", thick: 2 });
  marks.push(...stripMarks(reply.states, read, { x: edge, y: stripTop, width: inside, height: 16 }, ground));
  marks.push(title(edge, stripTop + 30, `the one vector: ${sizeOf(reply.states).columns} numbers${width > 420 ? ", however long the text" : ""}`));
  marks.push({ kind: "line", points: [[width / 2, stripTop + 42], [width / 2, answerTop - 6]], stroke: "k", thick: 3, arrow: true, opacity: read === reply.letters.length ? 1 : 0.25 });
  marks.push(title(edge, answerTop - 8, "written out of it"));
  marks.push(...answerMarks(look, reply.vector, answerTop + 4, written));
  return { width, height: answerTop + 4 + rowTall, title: `Through one vector: ${saysAt(reply, at)}. ${reply.crowding}`, marks };
}

function stripMarks(states: Tensor, read: number, place: { x: number; y: number; width: number; height: number }, ground: Ground): Mark[] {
  const { columns } = sizeOf(states);
  const one = place.width / columns;
  const scale: Scale = { map: "diverging", least: -1, most: 1 }; // a state's numbers lie between −1 and 1
  return Array.from({ length: columns }, (_, n): Mark => {
    const value = read === 0 ? 0 : valueAt(states, read - 1, n);
    return { kind: "box", x: place.x + n * one, y: place.y, width: one + 0.2, height: place.height, fill: coloured(scale, value, ground) };
  });
}

export function attentionDrawing(look: Look): Drawing {
  const { reply, at, width } = look;
  const { read, written } = countsAt(look);
  const wide = cellWide(look);
  const stateTop = 52;
  const answerTop = 178;
  const middle = (t: number) => edge + (t + 0.5) * wide;
  const marks: Mark[] = [title(edge, 8, "read, letter by letter"), ...letterMarks(look, 20, read)];
  for (let t = 0; t < reply.letters.length; ++t) {
    marks.push({ kind: "box", x: edge + t * wide + 3, y: stateTop, width: wide - 6, height: 14, radius: 3, fill: t < read ? "k" : "ground", opacity: t < read ? 0.75 : 1, stroke: "k", thick: 1 });
  }
  for (let t = 0; t < written; ++t) {
    const now = t === written - 1;
    for (let j = 0; j < reply.letters.length; ++j) {
      const weight = valueAt(reply.weights, t, j);
      if (weight < 0.02) continue;
      marks.push({ kind: "line", points: [[middle(t), answerTop], [middle(j), stateTop + 16]], stroke: "q", thick: now ? 1 + 4 * weight : 0.8 + weight, opacity: now ? 0.35 + 0.65 * weight : 0.32 * weight });
    }
  }
  marks.push(title(edge, stateTop + 28, "a state after each letter: all are kept"));
  if (written === 0) marks.push(title(edge, answerTop - 10, "each letter written looks back at all states"));
  marks.push(...answerMarks(look, reply.attention, answerTop + 4, written));
  return { width, height: answerTop + 4 + rowTall, title: `With attention: ${saysAt(reply, at)}`, marks };
}
