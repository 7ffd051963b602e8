// Where the word stands: as many places as there are, each a way to its column.

import { useSignal } from "@preact/signals";
import { address } from "../../app/address";
import { grouped } from "../../drawing/amounts";
import { centreOf } from "./view";
import type { Desk } from "./desk";

const first = 8;

export function FindCard({ desk }: { desk: Desk }) {
  const word = address.value.fields["find"];
  const all = useSignal(false);
  const reply = desk.find.reply.value;
  const error = desk.find.error.value;
  if (!word) return null;
  const isThis = desk.find.answered.value?.word === word;
  const places = isThis ? (reply?.places ?? []) : [];
  return (
    <section class="card find-card" aria-label="Found" aria-busy={desk.find.waiting.value}>
      <h2>
        “{word}” {isThis && reply && <small>{reply.count === 0 ? "is nowhere among the keys" : reply.count === 1 ? "is one key" : `is ${grouped(reply.count)} keys`}</small>}
      </h2>
      {error && <p class="problem">{error.message}</p>}
      <ol class="far-places">
        {(all.value ? places.slice(0, 100) : places.slice(0, first)).map(({ key, context }) => (
          <li key={key}>
            <button type="button" onClick={() => toKey(desk, key)}>
              <b class="k">{grouped(key)}</b> <span>{context}</span>
            </button>
          </li>
        ))}
      </ol>
      <div class="row-buttons">
        {places.length > first && (
          <button type="button" class="plain small" onClick={() => (all.value = !all.value)}>
            {all.value ? `The first ${first}` : places.length > 100 ? "The first 100" : `All ${places.length}`}
          </button>
        )}
        <button type="button" class="plain small" onClick={() => desk.apply({ find: null })}>
          Clear
        </button>
      </div>
    </section>
  );
}

/** The column, in the chosen row or where the picture is. */
export function toKey(desk: Desk, key: number, query = desk.query.peek()): void {
  if (query !== null) {
    desk.choose(query, key);
    desk.goTo(query, key);
    return;
  }
  const [view, size] = [desk.aim.peek(), desk.size.peek()];
  if (view && size) desk.goTo(Math.floor(centreOf(view, size).query), key, Math.round(size.width / view.scale));
}
