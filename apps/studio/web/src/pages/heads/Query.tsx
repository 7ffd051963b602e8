// What one query reads, the most first.

import { useSignal } from "@preact/signals";
import { shown } from "../../drawing/numbers";
import type { HeadReply } from "../../engine/messages";
import { valueAt } from "../../engine/tensor";
import { Reads } from "../../parts/Reads";
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
      <Reads
        class="query-reads"
        reads={listed.map(({ key, weight }) => ({ key, word: reply.keys[key] ?? "", place: `@${key}`, weight }))}
        isPressed={(key) => desk.locked.value?.key === key && desk.locked.value.query === query}
        onPress={(key) => desk.lock({ query, key })}
      />
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
