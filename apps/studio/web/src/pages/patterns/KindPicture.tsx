// What is particular to each way: waves, turning arrows, slopes; buckets are all in the map and the curve.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { change } from "../../app/address";
import { reducedMotion } from "../../app/theme";
import { shown } from "../../drawing/numbers";
import type { PositionsReply } from "../../engine/messages";
import { Picture } from "../../parts/Picture";
import { ranges, type Settings } from "./positions_state";
import { significant, turnsDrawing } from "./turns";
import { wavesDrawing } from "./waves";

const stepTime = 160; // milliseconds

/** Walks through all positions until it is stopped; a slider does the same by hand. */
function Walk({ at, tokens }: { at: number; tokens: number }) {
  const walking = useSignal(false);
  useEffect(() => {
    if (!walking.value) return;
    const timer = setTimeout(() => change({ at: String((at + 1) % tokens), cell: null }, "quiet"), stepTime);
    return () => clearTimeout(timer);
  }, [walking.value, at, tokens]);
  if (reducedMotion.value) return null;
  return (
    <button
      type="button"
      class="walk small"
      aria-pressed={walking.value}
      onClick={() => (walking.value = !walking.value)}
    >
      {walking.value ? "Stop" : "Walk through the positions"}
    </button>
  );
}

export function KindPicture({ reply, settings }: { reply: PositionsReply; settings: Settings }) {
  const { kind, at, before } = settings;
  if (kind === "sinusoidal") {
    return (
      <>
        <Picture draw={(width) => wavesDrawing(reply, at, width)} most={620} />
        <Walk at={at} tokens={settings.tokens} />
      </>
    );
  }
  if (kind === "rotary") {
    return (
      <>
        <Picture draw={(width) => turnsDrawing(reply, at, before, width)} most={620} />
        <p>
          <b class="q">query at {at}</b>, <b class="k">key at {at - before}</b>: the mean of all{" "}
          {reply.frequencies.length} cosines is <b>{shown(Number(reply.by_distance.values[before] ?? NaN), 3)}</b>. Move
          the query: both arrows turn, and no cosine changes.
        </p>
        <Walk at={at} tokens={settings.tokens} />
      </>
    );
  }
  return kind === "alibi" ? <Slopes slopes={reply.slopes} head={settings.head} /> : null;
}

function Slopes({ slopes, head }: { slopes: readonly number[]; head: number }) {
  const most = Math.max(...slopes);
  return (
    <ol class="slopes" aria-label="The slope of each head">
      {slopes.map((slope, n) => (
        <li key={n}>
          <button
            type="button"
            aria-pressed={n === head}
            onClick={() => change({ head: n === ranges.head.first ? null : String(n) })}
          >
            <span>head {n}</span>
            <span class="slope-bar" aria-hidden="true">
              <span style={{ width: `${(100 * slope) / most}%` }} />
            </span>
            <span>{significant(slope)}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}
