// How far the exact walk is, and what is only an estimate until then.

import { grouped } from "../../drawing/amounts";
import { duration, mostUnasked, pairsOf } from "./walk";
import { LogLegend } from "./Toolbar";
import type { Desk, Opened } from "./desk";

export function WalkLine({ desk, here }: { desk: Desk; here: Opened }) {
  return (
    <div class="walk-row">
      <Progress desk={desk} here={here} />
      <LogLegend />
    </div>
  );
}

function Progress({ desk, here }: { desk: Desk; here: Opened }) {
  const { walk, reply } = here;
  const state = walk.state.value;
  const { every } = reply.overview;
  if (every <= 1) return <p class="walk-line" />;
  const sampled = desk.isExact.value ? (
    <span class="exact">exact here</span>
  ) : (
    <span class="sampled">
      <b>sampled</b> from every {grouped(every)}th query
    </span>
  );
  if (state === "done") return <p class="walk-line">Exact: all {amount(pairsOf(reply))} pairs were walked.</p>;
  if (state === "walks") {
    const left = walk.left.value;
    return (
      <p class="walk-line" role="status">
        {sampled}
        <span>
          the exact walk: {Math.floor(100 * walk.share.value)} %{left !== null && `, about ${duration(left)} left`}
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
      {sampled}
      {state === "failed" && <span class="problem">{walk.problem.value}</span>}
      {state === "waits" && pairsOf(reply) > mostUnasked && (
        <span>
          All {amount(pairsOf(reply))} pairs are {timesOf(pairsOf(reply))} times the work of 131,072 tokens, which takes two cores
          half a minute. From near, weights are exact without it.
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

function timesOf(pairs: number): string {
  return String(Math.round(pairs / 131072 ** 2));
}
