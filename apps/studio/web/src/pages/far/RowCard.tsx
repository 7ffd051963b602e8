// What the chosen query reads: its keys of largest weight, each a way to that weight; entropy, distance, mass.

import { grouped } from "../../drawing/amounts";
import { shown } from "../../drawing/numbers";
import { Reads } from "../../parts/Reads";
import { oneIn, weightText } from "./values";
import type { Desk } from "./desk";

export function RowCard({ desk }: { desk: Desk }) {
  const query = desk.query.value;
  if (query === null) {
    return (
      <section class="card row-card empty" aria-label="The chosen query">
        <p>
          <b>What does one token read?</b> Click on a row, or press <kbd>g</kbd> and type its number: the keys that it reads most
          are listed here.
        </p>
      </section>
    );
  }
  const reply = desk.row.reply.value;
  const error = desk.row.error.value;
  const isThis = reply?.query === query;
  const { bench } = desk;
  return (
    <section class={`card row-card ${desk.row.waiting.value ? "waiting" : ""}`} aria-label="The chosen query" aria-busy={!isThis}>
      <h2>
        Query {grouped(query)} {isThis && <b class="q">“{reply.word}”</b>}
      </h2>
      {error && <p class="problem">{error.message}</p>}
      {isThis && (
        <>
          <Pair desk={desk} />
          {reply.top.length > 0 && <p class="note">reads most, of {grouped(reply.visible)} keys that it sees</p>}
          <Reads
            class="far-top"
            reads={reply.top.map((one) => ({ ...one, place: grouped(one.key) }))}
            title="Zoom to this weight"
            isPressed={(key) => desk.key.value === key}
            onPress={(key) => go(desk, query, key)}
          />
          <dl class="far-facts">
            <div>
              <dt>entropy</dt>
              <dd>
                {shown(reply.entropy, 2)} nats <small>{shown(reply.normalised_entropy, 2)} of the most</small>
              </dd>
            </div>
            <div>
              <dt>mean distance</dt>
              <dd>{grouped(Math.round(reply.distance))} tokens</dd>
            </div>
            <div>
              <dt>Σ</dt>
              <dd>{shown(reply.mass, 4)}</dd>
            </div>
          </dl>
          <p class="far-sentence">{reply.sentence}</p>
          <div class="row-buttons">
            {bench && (
              <button type="button" class="main" onClick={bench}>
                Put on the bench
              </button>
            )}
            <button type="button" onClick={() => desk.apply({ q: "none", k: null })}>
              Let go
            </button>
          </div>
        </>
      )}
    </section>
  );
}

function go(desk: Desk, query: number, key: number) {
  desk.choose(query, key);
  desk.goTo(query, key);
}

/** The one weight that was taken. */
function Pair({ desk }: { desk: Desk }) {
  const key = desk.key.value;
  const at = desk.row.reply.value?.at.find((one) => one.key === key);
  if (key === null || !at) return null;
  return (
    <p class="far-pair">
      <span>
        on key {grouped(key)} <b class="k">{at.word}</b>
      </span>
      <strong>{weightText(at.weight)}</strong>
      <small>{at.weight > 0 ? oneIn(at.weight) : "hidden, or rounded to 0"}</small>
    </p>
  );
}
