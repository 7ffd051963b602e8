// One query and one key, number by number: where a score is from.

import { useSignal } from "@preact/signals";
import { ground } from "../../app/theme";
import { coloured, textColourOn, type Scale } from "../../drawing/colour";
import { shown } from "../../drawing/numbers";
import type { PairReply } from "../../engine/messages";
import { rowOf, valueAt, type Tensor } from "../../engine/tensor";
import { pairSentence } from "./pair_words";
import { aboutZero } from "./row";

const largestTerms = 6;

export function Pair({ reply }: { reply: PairReply | null }) {
  const at = useSignal<number | null>(null);
  if (!reply) return <p class="note">Choose a query and a key: in the text, or in the matrix.</p>;
  const d = reply.q.values.length;
  const inputs = aboutZero(reply.q, reply.k);
  const strips: [string, string, Tensor, Scale][] = [
    ["q", `q of ${reply.query}`, reply.q, inputs],
    ["k", `k of ${reply.key}`, reply.k, inputs],
    ["product", "q · k", reply.products, aboutZero(reply.products)],
  ];
  const terms = largestOf(reply.products, largestTerms);
  const seen = at.value ?? null;
  return (
    <div class="pair-view">
      <div class="pair-strips" style={{ "--d": d }} onPointerLeave={() => (at.value = null)}>
        {strips.map(([kind, label, values, scale]) => (
          <div class="pair-strip" key={kind}>
            <b class={kind}>{label}</b>
            <div class="pair-cells" role="img" aria-label={`${label}: ${d} numbers`}>
              {rowOf(values, 0).map((value, n) => {
                const background = coloured(scale, value, ground.value);
                return (
                  <span
                    key={n}
                    class={n === seen ? "pointed" : ""}
                    style={{ background, color: textColourOn(background) }}
                    onPointerEnter={() => (at.value = n)}
                  >
                    {d <= 16 ? shown(value, 1) : ""}
                  </span>
                );
              })}
            </div>
          </div>
        ))}
      </div>
      <table class="terms">
        <caption>{seen === null ? `The ${terms.length} largest of ${d} terms` : `Term ${seen + 1} of ${d}`}</caption>
        <thead>
          <tr>
            <th scope="col">number</th>
            <th scope="col" class="q">q</th>
            <th scope="col" class="k">k</th>
            <th scope="col">q · k</th>
          </tr>
        </thead>
        <tbody>
          {(seen === null ? terms : [seen]).map((n) => (
            <tr key={n}>
              <th scope="row">{n + 1}</th>
              <td>{shown(valueAt(reply.q, 0, n), 3)}</td>
              <td>{shown(valueAt(reply.k, 0, n), 3)}</td>
              <td>{shown(valueAt(reply.products, 0, n), 3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="pair-sentence">{pairSentence(reply)}</p>
    </div>
  );
}

/** The places of the `count` numbers that are furthest from 0. */
function largestOf(tensor: Tensor, count: number): number[] {
  const sizes = rowOf(tensor, 0).map(Math.abs);
  return sizes
    .map((_, n) => n)
    .sort((a, b) => sizes[b]! - sizes[a]!)
    .slice(0, count);
}
