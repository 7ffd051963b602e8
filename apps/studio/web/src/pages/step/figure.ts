// The page as one picture for a file: title, sentence, the step's picture, the plane, the matrices.

import { moved, type Drawing, type Mark } from "../../drawing/marks";
import { matrixMarks } from "../../drawing/matrix_marks";
import type { Ground } from "../../drawing/palette";
import type { BenchReply } from "../../engine/messages";
import { planeFrame, planeMarks } from "../../parts/VectorPlane";
import { boardWidth } from "./Board";
import type { Bench } from "./bench";
import { backBoard, boardDrawing } from "./board";
import { isSmall, kindOf, scaleOf } from "./matrices";
import { fitsPlane, keyPlane, planeHeight, planeWidth, valuePlane } from "./planes";

const gap = 28;
const lineLength = 110; // characters

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < lineLength) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export function stepDrawing(bench: Bench, reply: BenchReply, ground: Ground): Drawing {
  const { stop, backward, motion } = bench;
  const position = motion.position.value;
  const title = stop.value.step?.title ?? reply.title;
  const width = boardWidth + gap + planeWidth + 2 * gap;
  const marks: Mark[] = [{ kind: "label", x: gap, y: gap, text: title, bold: true, size: 20 }];
  let y = gap + 28;
  for (const line of wrapped(stop.value.step?.sentence ?? "")) {
    marks.push({ kind: "label", x: gap, y, text: line, size: 14, fill: "soft" });
    y += 20;
  }
  const picture = backward.value
    ? backBoard({ reply, position, width: boardWidth, ground })
    : boardDrawing({ reply, position, width: boardWidth, ground });
  marks.push(...moved(picture.marks, gap, y));
  if (fitsPlane(reply)) {
    const plane =
      !backward.value && position > reply.steps.length - 1
        ? valuePlane(bench, reply, position)
        : keyPlane(bench, reply);
    const points = [...plane.vectors.map((vector) => vector.tip), ...(plane.hull ?? [])];
    marks.push(...moved(planeMarks(plane, planeFrame(points, planeWidth, planeHeight)), 2 * gap + boardWidth, y));
  }
  y += Math.max(picture.height, planeHeight) + gap;
  const tables = tableMarks(reply, y, width, ground);
  return { width, height: tables.bottom + gap, title, marks: [...marks, ...tables.marks] };
}

function tableMarks(reply: BenchReply, from: number, width: number, ground: Ground): { marks: Mark[]; bottom: number } {
  const marks: Mark[] = [];
  let x = gap;
  let y = from;
  let rowHeight = 0;
  for (const matrix of reply.matrices) {
    if (!isSmall(matrix) || ["max", "exp", "sum", "parts", "path"].includes(matrix.name)) continue;
    const isPairs = matrix.columns.join() === reply.keys.join() || matrix.columns.length === reply.keys.length;
    const kind = kindOf(matrix.name);
    const figure = {
      ...matrix,
      columns: isPairs && !kind ? matrix.columns : null,
      scale: scaleOf(reply, matrix),
      ...(kind ? { titlePaint: kind } : {}),
    };
    const made = matrixMarks(figure, ground);
    if (x > gap && x + made.width > width - gap) {
      x = gap;
      y += rowHeight + gap;
      rowHeight = 0;
    }
    marks.push(...moved(made.marks, x, y));
    x += made.width + gap;
    rowHeight = Math.max(rowHeight, made.height);
  }
  return { marks, bottom: y + rowHeight };
}
