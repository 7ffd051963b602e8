// The T × T matrix of one head, a tile of it to scale, and what all heads and layers keep: standard beside tiled.

import type { Drawing, Mark, Paint } from "../../drawing/marks";
import type { CostReply } from "../../engine/messages";
import { grouped } from "../../drawing/amounts";
import { itemOf, shortAmount } from "./cost_state";

const largest = 210;

export function squareDrawing(reply: CostReply, width: number): Drawing {
  const { model } = reply;
  const side = Math.min(largest, width * 0.5);
  const beside = width - side >= 250;
  const [left, top] = [2, 16];
  const sheets: Mark[] = [2, 1].map((n) => ({
    kind: "box",
    x: left + 6 * n,
    y: top - 6 * n,
    width: side,
    height: side,
    fill: "paper",
    stroke: "q",
    thick: 1,
    opacity: 0.6,
  }));
  const tile = Math.max((side * Math.min(model.tile, model.tokens)) / model.tokens, 2);
  const marks: Mark[] = [
    ...sheets,
    { kind: "box", x: left, y: top, width: side, height: side, fill: "paper" },
    { kind: "box", x: left, y: top, width: side, height: side, fill: "q", opacity: 0.28 },
    { kind: "box", x: left, y: top, width: side, height: side, stroke: "q", thick: 2 },
    { kind: "box", x: left, y: top, width: tile, height: tile, fill: "v" },
    {
      kind: "label",
      x: left + side / 2,
      y: top + side / 2 - 10,
      text: shortAmount(itemOf(reply, "scores.one_head")),
      anchor: "middle",
      size: 20,
      bold: true,
    },
    {
      kind: "label",
      x: left + side / 2,
      y: top + side / 2 + 14,
      text: `${grouped(model.tokens)} × ${grouped(model.tokens)}, one head`,
      anchor: "middle",
      size: 12,
    },
    {
      kind: "label",
      x: left,
      y: top + side + 18,
      text: `${model.heads} heads × ${model.layers} layers of these`,
      fill: "q",
      bold: true,
    },
  ];
  const [x, y] = beside ? [left + side + 34, top + 12] : [left, top + side + 44];
  marks.push(...tileLegend(reply, x, y));
  const bottom = beside ? top + side + 34 : y + 74;
  return {
    width,
    height: bottom,
    title: `A matrix of ${model.tokens} × ${model.tokens} scores, with one tile of ${model.tile} × ${model.tile} to scale`,
    marks,
  };
}

function tileLegend(reply: CostReply, x: number, y: number): Mark[] {
  return [
    { kind: "box", x, y: y - 6, width: 12, height: 12, fill: "v" },
    {
      kind: "label",
      x: x + 20,
      y,
      text: `one tile, to scale: ${shortAmount(itemOf(reply, "scores.tile"))}`,
      fill: "v",
      bold: true,
    },
    { kind: "label", x: x + 20, y: y + 19, text: "all that a thread holds", fill: "soft", size: 12 },
    { kind: "label", x: x + 20, y: y + 35, text: "of the matrix at a time", fill: "soft", size: 12 },
  ];
}

export interface KeptBar {
  name: string;
  key: string;
  paint: Paint;
}

/** What is kept of the scores of all layers, standard and tiled. */
export const keptBars: readonly KeptBar[] = [
  { name: "standard: the attention weights, T × T", key: "scores.all_layers", paint: "q" },
  { name: "tiled: one number a row", key: "scores.lse", paint: "v" },
];
