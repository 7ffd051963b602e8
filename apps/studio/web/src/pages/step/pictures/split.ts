// [T, H d] → [T, H, d] → [H, T, d]: each number a cell that slides from one place to the next.

import type { Drawing, Mark, Paint } from "../../../drawing/marks";
import type { SplitPicture } from "../../../engine/messages";

const paints: Paint[] = ["q", "k", "v", "accent", "soft", "ink"];
const side = 30;
const headGap = 16;
const labelWide = 46;

export const splitStages = ["[T, H·d]: one row a token", "[T, H, d]: cut into heads", "[H, T, d]: sorted by head"] as const;

interface Place {
  x: number;
  y: number;
}

/** Where a number lies at a stage: t its token, h its head, c its place in the head. */
export function placeAt(stage: number, t: number, h: number, c: number, { tokens, width }: SplitPicture): Place {
  const cut = stage >= 1 ? headGap * h : 0;
  if (stage < 2) return { x: labelWide + (h * width + c) * side + cut, y: 26 + t * (side + 10) };
  return { x: labelWide + c * side, y: 26 + h * (tokens * side + 26) + t * side };
}

function between(a: Place, b: Place, share: number): Place {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share };
}

export function splitDrawing(picture: SplitPicture, words: readonly string[], at: number): Drawing {
  const { tokens, heads, width, places } = picture;
  const stage = Math.min(Math.floor(at), 1);
  const share = at - stage;
  const marks: Mark[] = [];
  for (let h = 0; h < heads; ++h) {
    for (let t = 0; t < tokens; ++t) {
      for (let c = 0; c < width; ++c) {
        const { x, y } = between(placeAt(stage, t, h, c, picture), placeAt(stage + 1, t, h, c, picture), share);
        const paint = paints[h % paints.length]!;
        marks.push({ kind: "box", x, y, width: side - 3, height: side - 3, radius: 4, fill: paint, opacity: 0.22 + (0.5 * (t + 1)) / tokens });
        const number = Number(places.values[(h * tokens + t) * width + c]);
        marks.push({ kind: "label", x: x + (side - 3) / 2, y: y + (side - 3) / 2, text: String(number), anchor: "middle", size: 12, bold: true, halo: true });
      }
    }
  }
  const wordOpacity = Math.max(0, 1 - 2 * Math.max(at - 1, 0));
  const headOpacity = Math.max(0, 2 * Math.max(at - 1, 0) - 1);
  for (let t = 0; t < tokens && wordOpacity > 0; ++t) {
    marks.push({ kind: "label", x: labelWide - 8, y: placeAt(0, t, 0, 0, picture).y + side / 2 - 2, text: words[t] ?? String(t), anchor: "end", opacity: wordOpacity });
  }
  for (let h = 0; h < heads && headOpacity > 0; ++h) {
    const { y } = placeAt(2, 0, h, 0, picture);
    marks.push({ kind: "label", x: labelWide, y: y - 12, text: `head ${h}`, bold: true, fill: paints[h % paints.length]!, opacity: headOpacity });
    for (let t = 0; t < tokens; ++t) {
      marks.push({ kind: "label", x: labelWide - 8, y: y + t * side + side / 2 - 2, text: words[t] ?? String(t), anchor: "end", opacity: headOpacity });
    }
  }
  const last = placeAt(2, tokens - 1, heads - 1, width - 1, picture);
  return {
    width: labelWide + heads * width * side + headGap * (heads - 1) + 4,
    height: Math.max(last.y, placeAt(0, tokens - 1, 0, 0, picture).y) + side + 4,
    title: `${tokens} tokens of ${heads} times ${width} numbers, ${splitStages[Math.round(at)] ?? ""}`,
    marks,
  };
}
