// Beside the picture: the pair that is pointed at, what the head does, and what the model says next.

import { shown } from "../../drawing/numbers";
import type { AboutExample, HeadReply, HeadsReply, HeadsSite } from "../../engine/messages";
import { valueAt } from "../../engine/tensor";
import { askedNote, askedPlace, classNote, meansShown } from "./asked_words";
import type { Desk } from "./desk";
import { pairSentence } from "./pair_words";
import { isHidden } from "./row";
import type { Cell } from "./state";

export function PairCard({ desk, reply }: { desk: Desk; reply: HeadReply }) {
  const cell = desk.shown.value;
  if (!cell || cell.query >= reply.queries.length || cell.key >= reply.keys.length) {
    return (
      <section class="card pair-card empty" aria-label="The pair pointed at">
        <p>
          <b>Who reads whom?</b> A row asks, a column is read. Point at a cell; a click keeps it here, a double click lays its
          row on the bench.
        </p>
      </section>
    );
  }
  const { query, key } = cell;
  const pair = desk.pair.reply.value;
  const answered = desk.pair.answered.value;
  const known = pair && answered?.query === query && answered.key === key ? pair : null;
  const weight = valueAt(reply.weights, query, key);
  return (
    <section class="card pair-card" aria-label="The pair pointed at">
      <p class="pair-names">
        <b class="q">{reply.queries[query]}</b> <small>@{query}</small> reads <b class="k">{reply.keys[key]}</b> <small>@{key}</small>
      </p>
      <p class="pair-weight">
        {isHidden(reply.hidden, query, key) ? "hidden" : shown(weight, 3)}
        {known && <small>{shown(known.uniform, 3)} if it read all alike</small>}
      </p>
      {known && known.weight_left !== null && <p class="note">Of all keys, special tokens too: {shown(known.weight, 3)}.</p>}
      <p class="pair-why">{known ? pairSentence(known) : "\u00a0"}</p>
      <div class="pair-buttons">
        {desk.canBench(query) && (
          <button type="button" class="main" onClick={() => desk.bench(query)}>
            Put on the bench
          </button>
        )}
        {known && (
          <button type="button" onClick={() => desk.apply({ view: "pair", q: String(query), k: String(key) })}>
            Number by number
          </button>
        )}
      </div>
    </section>
  );
}

export function HeadCard({ reply, example }: { reply: HeadReply; example: AboutExample | null }) {
  const { layer, head, word, evidence } = reply.shown;
  const note = classNote(reply, example);
  const patterns = meansShown(reply);
  return (
    <section class="card head-card" aria-label="What this head does">
      <h2>
        What head {layer}.{head} does on average
      </h2>
      <p>
        <b class="class-word">{word === "-" ? "too short to tell" : word}</b> {word === "-" ? "" : evidence}
      </p>
      {note && <p class="note">{note}</p>}
      {patterns.length > 0 && <Bars label="Mean weight on" rows={patterns.map((one) => [one.name, one.share])} />}
    </section>
  );
}

export function SaysCard({ reply, site, cell }: { reply: HeadsReply; site: HeadsSite; cell: Cell | null }) {
  if (reply.says.length === 0) return null;
  const note = askedNote(reply, site, cell);
  return (
    <section class="card says-card" aria-label="What the model says">
      <h2>
        At <span class="token plain">{reply.asked}</span> <small>{askedPlace(reply, site)}</small> the model says
      </h2>
      <Bars label="Probability" rows={reply.says.map((one) => [one.token, one.share])} />
      {note && <p class="note">{note}</p>}
    </section>
  );
}

function Bars({ label, rows }: { label: string; rows: readonly (readonly [string, number])[] }) {
  return (
    <table class="bars">
      <caption class="said">{label}</caption>
      <tbody>
        {rows.map(([name, share], n) => (
          <tr key={n}>
            <th scope="row">{name}</th>
            <td class="measure" aria-hidden="true">
              <span style={{ width: `${100 * share}%` }} />
            </td>
            <td>{shown(share, 3)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
