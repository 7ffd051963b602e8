// What is taken along from the page Heads: the view that is open, as marks.

import { address } from "../../app/address";
import { coloured, textColourOn, type Scale } from "../../drawing/colour";
import { shortened } from "../../drawing/heatmap_layout";
import { heatmapDrawing } from "../../drawing/heatmap_marks";
import { moved, type Drawing, type Mark } from "../../drawing/marks";
import { shown } from "../../drawing/numbers";
import type { Ground } from "../../drawing/palette";
import { pixelBytes } from "../../drawing/pixel_bytes";
import type { HeadReply, HeadsClass, HeadsSite, PairReply } from "../../engine/messages";
import { rowOf, type Tensor } from "../../engine/tensor";
import { headMap } from "../../parts/head_map";
import { layoutFor } from "../../parts/Heatmap";
import { headMapsLayout } from "../../parts/head_maps_layout";
import { headMapsMarks, mapSheets } from "../../parts/head_maps_marks";
import { shadeOf } from "../../parts/shade";
import type { Desk } from "./desk";
import { lineMarks, linesLayout, sideMarks, strongest } from "./lines";
import { pairSentence } from "./pair_words";
import { cellShown, pictureMarks } from "./picture_marks";
import { aboutZero, readsOf } from "./row";
import { thresholdOf, viewOf } from "./state";

const wide = 720;
const titleTall = 34;
const mostReads = 24;

interface Figure {
  marks: Mark[];
  width: number;
  height: number;
}

/** The view that is open, below its title; null where it has no picture of marks. */
export function headsDrawing(desk: Desk, ground: Ground): Drawing | null {
  const { fields } = address.value;
  const [site, head] = [desk.site.value, desk.head.reply.value];
  if (!site || !head) return null;
  const figure = figureOf(desk, site, head, ground);
  if (!figure) return null;
  const view = viewOf(fields, site);
  const title = view === "all" ? `All heads of ${desk.heads.reply.value?.title ?? ""}` : head.title;
  const marks: Mark[] = [{ kind: "label", x: 0, y: 10, text: title, bold: true, size: 16 }, ...moved(figure.marks, 0, titleTall)];
  return { width: figure.width + 16, height: figure.height + titleTall + 16, title, marks: moved(marks, 8, 8) };
}

function figureOf(desk: Desk, site: HeadsSite, head: HeadReply, ground: Ground): Figure | null {
  const { fields } = address.value;
  const least = thresholdOf(fields);
  const at = desk.locked.value;
  switch (viewOf(fields, site)) {
    case "matrix":
      return matrixFigure(head, least, ground);
    case "lines":
      return linesFigure(head, least, at?.query ?? null);
    case "query":
      return queryFigure(head, at?.query ?? 0, least);
    case "pair":
      return desk.pair.reply.value && pairFigure(desk.pair.reply.value, ground);
    case "all":
      return gridFigure(site, fields["layer"] === undefined ? null : Number(fields["layer"]), fields["class"] ?? null, ground);
    case "image":
      return imageFigure(desk, site, head);
  }
}

const pictureSize = 420;

function imageFigure(desk: Desk, site: HeadsSite, head: HeadReply): Figure | null {
  const all = desk.heads.reply.value;
  const image = all?.image as Tensor | null | undefined;
  if (!all || !image) return null;
  const seen = { all, site, head, image, cell: cellShown(desk.shown.value, all, site, head), bytes: pixelBytes(image) };
  return { marks: pictureMarks(seen, pictureSize), width: pictureSize, height: pictureSize };
}

function matrixFigure(head: HeadReply, least: number, ground: Ground): Figure {
  const shade = shadeOf(address.value.fields);
  const data = { ...headMap(head, shade), least: shade === "uniform" ? 0 : least };
  const layout = layoutFor(data, wide);
  return { marks: heatmapDrawing(data, layout, ground), width: layout.width, height: layout.height };
}

function linesFigure({ queries, keys, weights, second_from }: HeadReply, least: number, query: number | null): Figure {
  const longest = [...queries, ...keys].reduce((most, token) => Math.max(most, shortened(token).length), 1);
  const layout = linesLayout(queries.length, keys.length, longest * 7.2, wide, Math.max(640, 14 * Math.max(queries.length, keys.length)));
  const lines = strongest(weights.values as Float32Array, keys.length, Math.max(least, 0.001));
  const sides = sideMarks(layout, { queries, keys, query, key: null, second: second_from });
  return { marks: [...lineMarks(layout, lines, query, null), ...sides], width: layout.width, height: layout.height };
}

function queryFigure(head: HeadReply, query: number, least: number): Figure {
  const reads = readsOf(head.weights, head.hidden, query).filter((one) => !one.hidden && one.weight >= least);
  const marks: Mark[] = [{ kind: "label", x: 0, y: 10, text: `What ${head.queries[query] ?? ""} reads`, fill: "q", bold: true }];
  const [left, bar] = [150, 300];
  reads.slice(0, mostReads).forEach(({ key, weight }, n) => {
    const y = 36 + n * 22;
    marks.push(
      { kind: "label", x: left - 50, y, text: shortened(head.keys[key] ?? ""), anchor: "end" },
      { kind: "label", x: left - 10, y, text: `@${key}`, anchor: "end", size: 11, fill: "soft" },
      { kind: "box", x: left, y: y - 7, width: bar, height: 14, fill: "ground", radius: 3 },
      { kind: "box", x: left, y: y - 7, width: bar * weight, height: 14, fill: "accent", radius: 3 },
      { kind: "label", x: left + bar + 10, y, text: shown(weight, 3) },
    );
  });
  const rows = Math.min(reads.length, mostReads);
  const y = 36 + rows * 22;
  const sum = shown(Number(head.query_totals.values[query] ?? NaN), 3);
  marks.push({ kind: "label", x: left, y, text: `Σ ${sum} over all ${Number(head.seen.values[query])} keys that it sees`, fill: "soft" });
  return { marks, width: left + bar + 70, height: y + 14 };
}

function pairFigure(reply: PairReply, ground: Ground): Figure {
  const d = reply.q.values.length;
  const left = 120;
  const cell = Math.min(Math.max((wide - left) / d, 6), 40);
  const strips: [string, "q" | "k" | "ink", Tensor, Scale][] = [
    [`q of ${reply.query}`, "q", reply.q, aboutZero(reply.q, reply.k)],
    [`k of ${reply.key}`, "k", reply.k, aboutZero(reply.q, reply.k)],
    ["q · k", "ink", reply.products, aboutZero(reply.products)],
  ];
  const marks: Mark[] = [];
  strips.forEach(([label, fill, values, scale], strip) => {
    const y = strip * 44;
    marks.push({ kind: "label", x: left - 10, y: y + 17, text: shortened(label), anchor: "end", fill, bold: true });
    rowOf(values, 0).forEach((value, n) => {
      const colour = coloured(scale, value, ground);
      const x = left + n * cell;
      marks.push({ kind: "box", x, y, width: cell - (cell > 9 ? 1 : 0), height: 34, fill: colour });
      if (cell >= 34) marks.push({ kind: "label", x: x + cell / 2, y: y + 17, text: shown(value, 1), anchor: "middle", size: 11, fill: textColourOn(colour) });
    });
  });
  const words = inLines(pairSentence(reply), 96);
  words.forEach((text, n) => marks.push({ kind: "label", x: 0, y: 152 + n * 20, text, fill: "soft" }));
  return { marks, width: wide, height: 156 + words.length * 20 };
}

function gridFigure(site: HeadsSite, layer: number | null, word: string | null, ground: Ground): Figure {
  const [, , rows = 1, columns = 1] = site.maps.shape;
  const layout = headMapsLayout(layer === null ? site.layers : 1, site.heads, rows, columns, wide, 140);
  const matches = (one: HeadsClass) => word === null || one.word === word;
  const marks = headMapsMarks({ site, sheets: mapSheets(site, ground), layout, layer, matches });
  return { marks, width: layout.width, height: layout.height };
}

function inLines(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
