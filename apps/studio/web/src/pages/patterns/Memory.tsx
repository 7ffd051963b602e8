// The T × T matrix against tiles, as a picture to scale and in the engine's numbers.

import { address } from "../../app/address";
import type { CostReply } from "../../engine/messages";
import { Picture } from "../../parts/Picture";
import { Said } from "./Said";
import { itemOf, shortAmount } from "./cost_state";
import { keptBars, squareDrawing } from "./square";

export function Memory({ reply }: { reply: CostReply }) {
  const weights = itemOf(reply, "scores.all_layers");
  const lse = itemOf(reply, "scores.lse");
  const note = reply.groups.find((group) => group.items.includes(weights))?.note ?? "";
  return (
    <section class="card memory-card" aria-label="The matrix of all pairs">
      <h2>
        The matrix of all pairs <small>{address.value.fields["preset"] ?? reply.model.name}</small>
      </h2>
      <p class="headline">
        <b>{shortAmount(weights)}</b> of attention weights, kept to train at {reply.model.tokens.toLocaleString("en")} tokens;
        tiled attention keeps <b>{shortAmount(lse)}</b>
      </p>
      <Picture draw={(width) => squareDrawing(reply, width)} most={560} />
      <div class="kept-bars">
        {keptBars.map(({ name, key, paint }) => {
          const item = itemOf(reply, key);
          return (
            <div key={key} class="share">
              <div>
                <span>{name}</span> <b>{shortAmount(item)}</b>
              </div>
              <div class={`share-bar ${paint}`} aria-hidden="true">
                <div style={{ width: `${(100 * item.value) / Math.max(weights.value, 1)}%` }} />
              </div>
            </div>
          );
        })}
      </div>
      <Said
        seen={
          <>
            The square is the score matrix of one head, T queries by T keys; the green corner is one tile, as large as
            it is beside it. The bars are to scale, too.
          </>
        }
        finding={note}
        numbers={
          <>
            {weights.arithmetic} = <b>{weights.amount}</b>
            <br />
            {lse.arithmetic} = <b>{lse.amount}</b>
          </>
        }
      />
    </section>
  );
}
