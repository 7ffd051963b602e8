// How far the exact walk is, and what is only an estimate until then.

import { grouped } from "../../drawing/amounts";
import { duration, pairsOf } from "./walk";
import type { Desk, Opened } from "./desk";

/** Above the picture, while it shows an estimate. */
export function SampledChip({ desk, here }: { desk: Desk; here: Opened }) {
  const { every } = here.reply.overview;
  if (desk.isExact.value || every <= 1 || here.walk.state.value === "done") return null;
  return (
    <p class="sampled">
      <b>sampled</b> some queries only
    </p>
  );
}

export function WalkLine({ here }: { here: Opened }) {
  if (here.reply.overview.every <= 1) return null;
  return (
    <div class="walk-row">
      <Progress here={here} />
    </div>
  );
}

function Progress({ here }: { here: Opened }) {
  const { walk, reply } = here;
  const state = walk.state.value;
  const pairs = pairsOf(reply);
  const { every } = reply.overview;
  if (state === "done")
    return (
      <p class="walk-line">
        <span>Exact: all {amount(pairs)} pairs were walked.</span>
      </p>
    );
  if (state === "walks") {
    const left = walk.left.value;
    return (
      <p class="walk-line" role="status">
        <span>
          The first look took every {ordinal(every)} query; the exact walk: {Math.floor(100 * walk.share.value)} %
          {left !== null && `, about ${duration(left)} left`}
        </span>
        <progress max={1} value={walk.share.value} aria-label="The exact walk" />
        <button type="button" class="small" onClick={walk.stop}>
          Stop
        </button>
      </p>
    );
  }
  return (
    <p class="walk-line">
      {state === "failed" ? (
        <span class="problem">{walk.problem.value}</span>
      ) : (
        <span>
          From afar, every {ordinal(every)} query was looked at; from near, weights are exact.
          {state === "waits" && ` To walk all ${amount(pairs)} pairs takes ${walk.expected}.`}
        </span>
      )}
      <button type="button" class="small" onClick={walk.start}>
        {state === "stopped" ? "Go on walking" : state === "failed" ? "Try again" : "Walk all of it"}
      </button>
    </p>
  );
}

/** "17.2 billion" */
export function amount(count: number): string {
  if (count >= 1e12) return `${(count / 1e12).toFixed(1)} trillion`;
  if (count >= 1e9) return `${(count / 1e9).toFixed(1)} billion`;
  return count >= 1e6 ? `${(count / 1e6).toFixed(1)} million` : grouped(count);
}

/** "64th", "32nd" */
export function ordinal(count: number): string {
  const ending = count % 100 > 10 && count % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th");
  return `${grouped(count)}${ending}`;
}
