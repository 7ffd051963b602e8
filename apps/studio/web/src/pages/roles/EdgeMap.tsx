// The map of one head over the text. A click, or Enter, cuts the edge from a query to a key, and mends it again.

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { coarse, ground } from "../../app/theme";
import { paintMarks } from "../../drawing/canvas";
import { shown } from "../../drawing/numbers";
import { palettes } from "../../drawing/palette";
import type { HeadReply } from "../../engine/messages";
import { valueAt } from "../../engine/tensor";
import { sharpCanvas } from "../../parts/sharp_canvas";
import type { Edge } from "./changes";
import { cellAt, isHidden, mapLayout, mapMarks, type MapLayout } from "./map_marks";

interface Place {
  query: number;
  key: number;
}

export interface EdgeMapProps {
  reply: HeadReply;
  label: string;
  cuts: readonly Edge[];
  /** The row of the place that is looked at. */
  place: number | null;
  onCut: (query: number, key: number) => void;
}

const howTo = "Arrow keys go from cell to cell, Enter cuts.";
const fingerSize = 40; // pixels below which a finger only points

export function EdgeMap({ reply, label, cuts, place, onCut }: EdgeMapProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const room = useSignal(360);
  const at = useSignal<Place | null>(null);
  const layout = mapLayout(reply, room.value);
  const now = ground.value;
  const struck = cuts.map(({ query, key }) => `${query}:${key}`).join(" ");

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => (room.value = Math.max(element.clientWidth, 120));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const context = sharpCanvas(canvas.current, layout.width, layout.height);
    if (context) paintMarks(context, mapMarks(reply, layout, cuts, place, now), palettes[now]);
  }, [reply, layout.cell, struck, place, now]);
  useEffect(() => void (at.value = null), [reply]);

  const onClick = (event: MouseEvent) => {
    const cell = cellAt(layout, event.offsetX, event.offsetY);
    if (!cell) return;
    at.value = cell;
    const isFinger = (event as PointerEvent).pointerType === "touch" && layout.cell < fingerSize;
    if (!isFinger && !isHidden(reply, cell.query, cell.key)) onCut(cell.query, cell.key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const from = at.value ?? { query: place ?? layout.rows - 1, key: 0 };
    if (event.key === "Enter" || event.key === " ") {
      if (at.value && !isHidden(reply, from.query, from.key)) onCut(from.query, from.key);
    } else if (event.key === "Escape") at.value = null;
    else {
      const by = steps[event.key];
      if (!by) return;
      at.value = at.value ? within(layout, from.query + by[0], from.key + by[1]) : from;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const said = at.value ? edgeWords(reply, at.value, struck) : "";

  return (
    <div class="edge-map" ref={box}>
      <div
        class="edge-map-cells"
        role="application"
        aria-roledescription="map"
        aria-label={`${label}: ${layout.rows} queries down, ${layout.columns} keys across. ${howTo}`}
        tabIndex={0}
        data-own-arrows
        style={{ width: `${layout.width}px`, height: `${layout.height}px` }}
        onPointerMove={(event) => {
          if (event.pointerType !== "touch") at.value = cellAt(layout, event.offsetX, event.offsetY);
        }}
        onPointerLeave={(event) => {
          if (event.pointerType !== "touch") at.value = null;
        }}
        onClick={onClick}
        onKeyDown={onKeyDown}
      >
        <canvas ref={canvas} />
        {at.value && <Ring layout={layout} at={at.value} />}
      </div>
      <p class="edge-said">
        <span aria-live="polite">
          {said || <em>{coarse.value ? "Tap a cell to read it, and to cut it." : "Click a cell to cut that edge."}</em>}
        </span>
        {at.value && !isHidden(reply, at.value.query, at.value.key) && (
          <CutButton
            isCut={struck.split(" ").includes(`${at.value.query}:${at.value.key}`)}
            onCut={() => at.value && onCut(at.value.query, at.value.key)}
          />
        )}
      </p>
    </div>
  );
}

const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

function within({ rows, columns }: MapLayout, query: number, key: number): Place {
  return { query: Math.min(Math.max(query, 0), rows - 1), key: Math.min(Math.max(key, 0), columns - 1) };
}

function edgeWords(reply: HeadReply, { query, key }: Place, struck: string): string {
  const words = `“${reply.queries[query] ?? ""}” (${query}) reads “${reply.keys[key] ?? ""}” (${key})`;
  if (isHidden(reply, query, key)) return `${words}: hidden by the mask`;
  const cut = struck.split(" ").includes(`${query}:${key}`) ? ", cut" : "";
  return `${words}: ${shown(valueAt(reply.weights, query, key), 4)}${cut}`;
}

function CutButton({ isCut, onCut }: { isCut: boolean; onCut: () => void }) {
  return (
    <button type="button" class="small touch-only" onClick={onCut}>
      {isCut ? "Mend" : "Cut"}
    </button>
  );
}

function Ring({ layout, at }: { layout: MapLayout; at: Place }) {
  const { cell, left, top } = layout;
  return (
    <div
      class="edge-ring"
      style={{
        left: `${left + at.key * cell - 1}px`,
        top: `${top + at.query * cell - 1}px`,
        width: `${cell + 1}px`,
        height: `${cell + 1}px`,
      }}
    />
  );
}
