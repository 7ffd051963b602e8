// Weights as lines from who asks, on the left, to what is read, on the right.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ground } from "../../app/theme";
import { palettes, type Palette } from "../../drawing/palette";
import type { HeadReply } from "../../engine/messages";
import { shortened } from "../../drawing/heatmap_layout";
import { useWidth } from "../../parts/use_width";
import { sharpCanvas } from "../../parts/sharp_canvas";
import type { Desk } from "./desk";
import { keyY, labelEvery, linesLayout, mostLines, queryY, strongest, tokenAt, type LineOf, type LinesLayout } from "./lines";
import { heaviestKey } from "./row";

interface LinesProps {
  desk: Desk;
  reply: HeadReply;
  least: number;
}

const tallest = 640;

export function Lines({ desk, reply, least }: LinesProps) {
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(frame);

  const lines = useMemo(
    () => strongest(reply.weights.values as Float32Array, reply.keys.length, Math.max(least, 0.001)),
    [reply.weights, least],
  );
  const longest = [...reply.queries, ...reply.keys].reduce((most, token) => Math.max(most, shortened(token).length), 1);
  const layout = linesLayout(reply.queries.length, reply.keys.length, longest * 7.2, width, tallest);
  const shown = desk.shown.value;
  const byKey = useSignal<number | null>(null);

  useLayoutEffect(() => {
    const context = sharpCanvas(canvas.current, layout.width, layout.height);
    if (!context || width === 0) return;
    paint(context, layout, reply, lines, shown?.query ?? null, byKey.value, palettes[ground.value]);
  });

  const point = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return null;
    return tokenAt(layout, reply.queries.length, reply.keys.length, event.clientX - box.left, event.clientY - box.top);
  };
  const cellOf = (query: number) => ({ query, key: heaviestKey(reply.weights, query) });
  const follow = (event: MouseEvent) => {
    const at = point(event);
    byKey.value = at?.key ?? null;
    if (at?.query != null) desk.hover.value = cellOf(at.query);
  };
  const summary =
    lines.length === mostLines
      ? `The ${mostLines.toLocaleString("en")} largest weights as lines`
      : `${lines.length} weights above ${Math.max(least, 0.001)} as lines`;
  return (
    <div class="lines" ref={frame}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${summary}, from the queries on the left to the keys on the right`}
        onPointerMove={follow}
        onPointerLeave={() => {
          byKey.value = null;
          desk.hover.value = null;
        }}
        onClick={(event) => {
          const at = point(event);
          if (at?.query != null) desk.lock(cellOf(at.query));
        }}
      />
      <p class="note">{summary}. Point at a token to see its own.</p>
    </div>
  );
}

function paint(context: CanvasRenderingContext2D, layout: LinesLayout, reply: HeadReply, lines: readonly LineOf[], query: number | null, key: number | null, palette: Palette): void {
  context.clearRect(0, 0, layout.width, layout.height);
  const isChosen = (line: LineOf) => (key !== null ? line.key === key : line.query === query);
  const any = key !== null || query !== null;
  context.lineCap = "butt";
  for (const line of lines) if (!any || !isChosen(line)) paintLine(context, layout, line, palette.accent, any ? 0.16 : 0.75);
  for (const line of lines) if (any && isChosen(line)) paintLine(context, layout, line, palette.accent, 1);
  context.globalAlpha = 1;
  paintTokens(context, layout, reply.queries, true, query, palette);
  paintTokens(context, layout, reply.keys, false, key, palette);
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "right";
  context.fillStyle = palette.q;
  context.fillText("asks", layout.left - 8, 14);
  context.textAlign = "left";
  context.fillStyle = palette.k;
  context.fillText("is read", layout.right + 8, 14);
}

function paintLine(context: CanvasRenderingContext2D, layout: LinesLayout, { query, key, weight }: LineOf, colour: string, strength: number): void {
  const [from, to] = [queryY(layout, query), keyY(layout, key)];
  const middle = (layout.left + layout.right) / 2;
  context.globalAlpha = strength * Math.min(0.08 + 0.92 * weight, 1);
  context.strokeStyle = colour;
  context.lineWidth = 0.6 + 4 * weight;
  context.beginPath();
  context.moveTo(layout.left, from);
  context.bezierCurveTo(middle, from, middle, to, layout.right, to);
  context.stroke();
}

function paintTokens(context: CanvasRenderingContext2D, layout: LinesLayout, tokens: readonly string[], isQuery: boolean, chosen: number | null, palette: Palette): void {
  const pitch = isQuery ? layout.queryPitch : layout.keyPitch;
  const every = labelEvery(pitch);
  context.textAlign = isQuery ? "right" : "left";
  tokens.forEach((token, n) => {
    if (n % every !== 0 && n !== chosen) return;
    context.font = `${n === chosen ? "600 " : ""}13px system-ui, sans-serif`;
    context.fillStyle = n === chosen ? (isQuery ? palette.q : palette.k) : palette.ink;
    const y = isQuery ? queryY(layout, n) : keyY(layout, n);
    context.fillText(shortened(token), isQuery ? layout.left - 8 : layout.right + 8, y + 4.5);
  });
}
