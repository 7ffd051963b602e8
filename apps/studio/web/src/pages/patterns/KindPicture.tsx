// What is particular to each way: waves, turning arrows, slopes; buckets are all in the map and the curve.

import { change } from "../../app/address";
import { shown } from "../../drawing/numbers";
import type { PositionsReply } from "../../engine/messages";
import { Picture } from "../../parts/Picture";
import type { Settings } from "./positions_state";
import { significant, turnsDrawing } from "./turns";
import { wavesDrawing } from "./waves";

export function KindPicture({ reply, settings }: { reply: PositionsReply; settings: Settings }) {
  const { kind, at, before } = settings;
  if (kind === "sinusoidal") return <Picture draw={(width) => wavesDrawing(reply, at, width)} most={620} />;
  if (kind === "rotary") {
    return (
      <>
        <Picture draw={(width) => turnsDrawing(reply, at, before, width)} most={620} />
        <p>
          <b class="q">query at {at}</b>, <b class="k">key at {at - before}</b>: the mean of all {reply.frequencies.length} cosines is{" "}
          <b>{shown(Number(reply.by_distance.values[before] ?? NaN), 3)}</b>. Move the query: both arrows turn, and no cosine changes.
        </p>
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
          <button type="button" aria-pressed={n === head} onClick={() => change({ head: n === 2 ? null : String(n) })}>
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
