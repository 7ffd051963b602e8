// Of a model's head on the bench: what is changed here runs through the rest of the model, and what it then says.

import { address, move } from "../../app/address";
import { withMinus } from "../../drawing/numbers";
import type { BenchReply } from "../../engine/messages";
import { MovedTokens } from "../../parts/MovedTokens";
import type { Bench } from "./bench";
import { matrixOf } from "./matrices";
import { changeRequest, onRealHead, setNumbers } from "./state";
import "./runs_on.css";

export function RunsOn({ bench, reply }: { bench: Bench; reply: BenchReply }) {
  const { fields } = address.value;
  const { change } = bench;
  const said = change.reply.value;
  if (!onRealHead(fields) || !bench.isLive) return null;
  const numbers = setNumbers(fields);
  const take = (at: number) => bench.apply({ set: numbers.filter((_, n) => n !== at).join(";") || null });
  const isCurrent = said !== null && said.interventions.length === numbers.length;
  return (
    <section class={`card runs-on ${change.waiting.value ? "waiting" : ""}`} aria-label="What the model then says">
      <h2>Edits run on</h2>
      {numbers.length === 0 ? (
        <p>
          Click a number of Q, K or V and change it: the edit runs through the rest of the model
          {said?.answer && (
            <>
              , which now says <b>{said.answer.piece}</b> at “{said.tokens[said.place]}”
            </>
          )}
          .
        </p>
      ) : (
        <div class="runs-on-chips" role="group" aria-label="Numbers that are changed">
          {numbers.map((one, n) => (
            <button key={one} type="button" class="chip on" aria-label={`Undo: ${worded(reply, one)}`} onClick={() => take(n)}>
              {worded(reply, one)} <span aria-hidden="true">×</span>
            </button>
          ))}
        </div>
      )}
      {change.error.value && (
        <p class="problem" role="alert">
          {change.error.value.message}
        </p>
      )}
      {numbers.length > 0 && said && isCurrent && (
        <>
          <p class="runs-on-sentence" aria-live="polite">
            {said.sentence}
          </p>
          {said.moved && <MovedTokens moved={said.moved} />}
          <button type="button" class="plain small" onClick={() => toRoles()}>
            All places, and more changes: on Roles
          </button>
        </>
      )}
    </section>
  );
}

/** "k of c, number 6: 0.7" */
function worded(reply: BenchReply, text: string): string {
  const [, name = "", row = "", column = "", to = ""] = /^(\w+):(\d+),(\d+):(.+)$/.exec(text) ?? [];
  const token = matrixOf(reply, name)?.rows[Number(row)] ?? row;
  return `${name} of ${token}, number ${Number(column) + 1}: ${withMinus(to)}`;
}

function toRoles(): void {
  const { fields } = address.value;
  const request = changeRequest(fields);
  if (!request) return;
  const { model = "", text, example, changes = [] } = request;
  const read: Record<string, string> = text === undefined ? { example: String(example) } : { text };
  move({ page: "roles", fields: { model, ...read, head: fields["head"] ?? "", changes: changes.join("; ") } });
}
