// The step itself: its question, its picture, its sentence, its formula in numbers.

import { useRef } from "preact/hooks";
import { address } from "../../app/address";
import { ground, narrow } from "../../app/theme";
import type { BenchReply, BenchStep } from "../../engine/messages";
import { svgElements } from "../../drawing/svg";
import { Formula } from "../../parts/Formula";
import { Prose } from "../../parts/Prose";
import type { Bench } from "./bench";
import { backBoard, boardDrawing } from "./board";
import { subscripted } from "./planes";
import { isDrawn, movedOutput, onRealHead } from "./state";

export const boardWidth = 520;
const narrowBoard = 340;

interface BoardProps {
  bench: Bench;
  reply: BenchReply;
}

export function Board({ bench, reply }: BoardProps) {
  const swipe = useSwipe(bench);
  const { stop, backward } = bench;
  const word = reply.queries[reply.query] ?? "";
  return (
    <section class="card board" aria-labelledby="board-title" {...swipe}>
      <p class="board-step">
        {stop.value.step ? `Step ${stop.value.key} of ${(backward.value ? reply.back : reply.steps).length}` : "Ready"}
      </p>
      <h2 id="board-title">
        {stop.value.step?.title ?? (backward.value ? backwardQuestion() : `How much does “${word}” look at each word?`)}
      </h2>
      <div class="board-says" aria-live="polite">
        {stop.value.step ? (
          <p>
            <Prose text={stop.value.step.sentence} />
          </p>
        ) : (
          <Opening bench={bench} reply={reply} />
        )}
      </div>
      <Picture bench={bench} reply={reply} />
      {stop.value.step && <Formulas step={stop.value.step} />}
      {reply.remarks.length > 0 && stop.value.step && stop.value === bench.stops.value.at(-1) && (
        <aside class="remarks">
          {reply.remarks.map((remark) => (
            <p key={remark}>{remark}</p>
          ))}
        </aside>
      )}
    </section>
  );
}

function backwardQuestion(): string {
  const { fields } = address.value;
  if (fields["dY"] !== undefined) return "What moves the loss?";
  const [row, column] = movedOutput(fields).split(",").map(Number);
  return `What moves ${subscripted("y", row ?? 0)}[${(column ?? 0) + 1}]?`;
}

function Opening({ bench, reply }: BoardProps) {
  const word = reply.queries[reply.query] ?? "";
  if (bench.backward.value) {
    return <p>The gradient goes the same way back. Click a number of the output Y, or type into dY, then step.</p>;
  }
  return (
    <p>
      Attention lets each word gather from the others. “{word}” asks with its query <b class="q">q</b>, every word
      answers with its key <b class="k">k</b>, and what they say, their values <b class="v">v</b>, is mixed by how well
      they answer. Press <b>Play</b>
      {bench.isLive && !isDrawn(address.value.fields) ? `, or change any number${onRealHead(address.value.fields) ? " of Q, K or V" : ""}.` : "."}
    </p>
  );
}

function Picture({ bench, reply }: BoardProps) {
  // A narrow page has a narrow picture, not a small one: its text keeps its size.
  const props = {
    reply,
    position: bench.motion.position.value,
    width: narrow.value ? narrowBoard : boardWidth,
    ground: ground.value,
  };
  const drawing = bench.backward.value ? backBoard(props) : boardDrawing(props);
  return (
    <svg
      class="board-picture"
      viewBox={`-2 0 ${drawing.width + 4} ${drawing.height}`}
      role="img"
      aria-label={drawing.title}
    >
      {svgElements(drawing.marks)}
    </svg>
  );
}

const longFormulas = 360; // characters; more of them scroll in their place

function Formulas({ step }: { step: BenchStep }) {
  const isLong = step.formulas.reduce((sum, formula) => sum + formula.text.length, 0) > longFormulas;
  const scrolls = isLong
    ? { class: "formulas long", tabIndex: 0, role: "group" as const, "aria-label": "In numbers" }
    : { class: "formulas" };
  return (
    <div {...scrolls}>
      {step.formulas.map((formula) => (
        <Formula key={formula.text} formula={formula} />
      ))}
    </div>
  );
}

const swipeFrom = 50; // pixels

// A finger moved sideways steps; up and down scrolls as ever.
function useSwipe(bench: Bench) {
  const start = useRef<{ x: number; y: number } | null>(null);
  return {
    onTouchStart: (event: TouchEvent) => {
      const touch = event.touches.length === 1 ? event.touches[0] : undefined;
      start.current = touch ? { x: touch.clientX, y: touch.clientY } : null;
    },
    onTouchEnd: (event: TouchEvent) => {
      const touch = event.changedTouches[0];
      if (!start.current || !touch) return;
      const [dx, dy] = [touch.clientX - start.current.x, touch.clientY - start.current.y];
      if (Math.abs(dx) > swipeFrom && Math.abs(dx) > 2 * Math.abs(dy)) bench.move(dx < 0 ? 1 : -1);
    },
  };
}
