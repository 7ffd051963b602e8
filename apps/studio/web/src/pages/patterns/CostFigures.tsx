// Every figure with its arithmetic, group by group.

import type { CostReply } from "../../engine/messages";
import { shortAmount } from "./cost_state";

const openFirst = "Score matrices";

export function CostFigures({ reply }: { reply: CostReply }) {
  return (
    <section class="card figures" aria-labelledby="figures-title">
      <h2 id="figures-title">Every figure with its arithmetic</h2>
      {reply.groups.map((group) => (
        <details key={group.title} open={group.title === openFirst}>
          <summary>
            <span>{group.title}</span>
          </summary>
          {group.note && <p class="hint">{group.note}</p>}
          <table>
            <tbody>
              {group.items.map((item) => (
                <tr key={item.key}>
                  <th scope="row">{item.name}</th>
                  <td class="arithmetic">
                    {item.arithmetic} = {item.amount.split(" = ")[0]}
                  </td>
                  <td class="amount">{shortAmount(item)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      ))}
    </section>
  );
}
