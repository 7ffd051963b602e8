// Weights as lines from who asks, on the left, to what is read, on the right.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { ground } from "../../app/theme";
import { paintMarks } from "../../drawing/canvas";
import { palettes } from "../../drawing/palette";
import type { HeadReply } from "../../engine/messages";
import { shortened } from "../../drawing/heatmap_layout";
import { useWidth } from "../../parts/use_width";
import { sharpCanvas } from "../../parts/sharp_canvas";
import type { Desk } from "./desk";
import { lineMarks, linesLayout, mostLines, sideMarks, strongest, tokenAt } from "./lines";
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
    const at = { query: shown?.query ?? null, key: byKey.value };
    const sides = { queries: reply.queries, keys: reply.keys, ...at, second: reply.second_from };
    paintMarks(context, [...lineMarks(layout, lines, at.query, at.key), ...sideMarks(layout, sides)], palettes[ground.value]);
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
