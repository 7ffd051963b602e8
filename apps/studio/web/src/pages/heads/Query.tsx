// What one query reads, the most first.

import { useSignal } from "@preact/signals";
import { shown } from "../../drawing/numbers";
import type { HeadReply } from "../../engine/messages";
import { valueAt } from "../../engine/tensor";
import type { Desk } from "./desk";
import { readsOf } from "./row";

const first = 12;

export function Query({ desk, reply, least }: { desk: Desk; reply: HeadReply; least: number }) {
  const all = useSignal(false);
  const query = desk.shown.value?.query ?? 0;
  const reads = readsOf(reply.weights, reply.hidden, query).filter((one) => !one.hidden && one.weight >= least);
  const listed = all.value ? reads : reads.slice(0, first);
  return (
    <div class="query-view">
      <h3>
        What <b class="q">{reply.queries[query]}</b> reads
      </h3>
      <ol class="reads">
        {listed.map(({ key, weight }) => (
          <li key={key}>
            <button type="button" aria-pressed={desk.locked.value?.key === key && desk.locked.value.query === query} onClick={() => desk.lock({ query, key })}>
              <span class="read-token">{reply.keys[key]}</span>
              <span class="read-place">@{key}</span>
              <span class="measure" aria-hidden="true">
                <span style={{ width: `${100 * weight}%` }} />
              </span>
              <span class="read-weight">{shown(weight, 3)}</span>
            </button>
          </li>
        ))}
      </ol>
      {reads.length > first && (
        <button type="button" class="plain small" onClick={() => (all.value = !all.value)}>
          {all.value ? `The first ${first}` : `All ${reads.length}`}
        </button>
      )}
      <p class="note">
        Σ {shown(valueAt(reply.query_totals, 0, query), 3)} over {Number(reply.seen.values[query])} keys that it can read; entropy{" "}
        {shown(valueAt(reply.entropy, 0, query), 3)} nats.
      </p>
    </div>
  );
}
