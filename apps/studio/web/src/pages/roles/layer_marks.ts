// Which head does what, as a small picture: layers down, heads across, coloured by class.

import { textColourOn } from "../../drawing/colour";
import type { Drawing, Mark } from "../../drawing/marks";
import type { Ground } from "../../drawing/palette";
import type { RolesHead } from "../../engine/messages";
import { colourOfClass, families, familyOf, otherColours } from "./classes";
import { headName, type HeadAt } from "../heads/state";
import { isSameHead } from "./state";

export const siteTitles: Readonly<Record<string, string>> = {
  tokens: "Over the text",
  source: "Over the source",
  cross: "From text to source",
};

const left = 58;
const gap = 3;
const legendLine = 20;

export interface LayerCell {
  head: RolesHead;
  x: number;
  y: number;
  size: number;
}

export interface LayerPicture extends Drawing {
  cells: LayerCell[];
}

export function layerPicture(
  heads: readonly RolesHead[],
  chosen: HeadAt | null,
  width: number,
  ground: Ground,
): LayerPicture {
  const marks: Mark[] = [];
  const cells: LayerCell[] = [];
  const sites = [...new Set(heads.map((head) => head.site))];
  let y = 0;
  for (const site of sites) {
    const own = heads.filter((head) => head.site === site);
    const across = Math.max(...own.map((head) => head.head)) + 1;
    const size = Math.min(Math.max(Math.floor((width - left) / across) - gap, 6), 36);
    if (sites.length > 1) {
      marks.push({ kind: "label", x: 0, y: y + 9, text: siteTitles[site] ?? site, bold: true });
      y += 24;
    }
    const layers = Math.max(...own.map((head) => head.layer)) + 1;
    for (let layer = 0; layer < layers; ++layer) {
      const isLabelled = size + gap >= 14 || layer % Math.ceil(14 / (size + gap)) === 0;
      if (isLabelled)
        marks.push({
          kind: "label",
          x: left - 8,
          y: y + layer * (size + gap) + size / 2,
          text: `layer ${layer}`,
          anchor: "end",
          fill: "soft",
        });
    }
    for (const head of own)
      cells.push({ head, x: left + head.head * (size + gap), y: y + head.layer * (size + gap), size });
    y += layers * (size + gap) + 10;
  }
  for (const cell of cells) marks.push(...cellMarks(cell, isSameHead(cell.head, chosen), ground));
  const legend = legendMarks(heads, y + 4, ground);
  marks.push(...legend.marks);
  return { width, height: legend.end, title: summary(heads), marks, cells };
}

function cellMarks({ head, x, y, size }: LayerCell, isChosen: boolean, ground: Ground): Mark[] {
  const fill = colourOfClass(head.word, ground);
  const marks: Mark[] = [
    { kind: "box", x, y, width: size, height: size, radius: size > 14 ? 4 : 1, fill, name: `role-${headName(head)}` },
  ];
  if (size >= 24 && familyOf(head.word)) {
    marks.push({
      kind: "label",
      x: x + size / 2,
      y: y + size / 2,
      text: head.word.slice(0, 3),
      anchor: "middle",
      size: size >= 32 ? 12 : 10,
      fill: textColourOn(fill),
    });
  }
  if (isChosen)
    marks.push({
      kind: "box",
      x: x - 2,
      y: y - 2,
      width: size + 4,
      height: size + 4,
      radius: 5,
      stroke: "ink",
      thick: 2,
    });
  return marks;
}

function legendMarks(heads: readonly RolesHead[], from: number, ground: Ground): { marks: Mark[]; end: number } {
  const marks: Mark[] = [];
  let y = from;
  const entry = (colour: `#${string}`, text: string) => {
    marks.push({ kind: "box", x: 0, y, width: 12, height: 12, radius: 3, fill: colour });
    marks.push({ kind: "label", x: 19, y: y + 6, text, fill: "soft" });
    y += legendLine;
  };
  for (const family of families) {
    const words = family.words.filter((word) => heads.some((head) => head.word === word));
    if (words.length > 0) entry(family.colours[ground], `${words.join(", ")}: reads ${family.name}`);
  }
  if (heads.some((head) => !familyOf(head.word))) entry(otherColours[ground], "mixed: no one pattern");
  return { marks, end: y };
}

/** "32 heads: 6 previous, 26 mixed" */
export function summary(heads: readonly Pick<RolesHead, "word">[]): string {
  const counts = new Map<string, number>();
  for (const { word } of heads) counts.set(word, (counts.get(word) ?? 0) + 1);
  const all = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b, "en"));
  const each = all.map(([word, n]) => `${n} ${word}`).join(", ");
  return `${heads.length} ${heads.length === 1 ? "head" : "heads"}: ${each}`;
}
