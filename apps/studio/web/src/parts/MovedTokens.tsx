// What a model says, untouched and changed: the tokens whose probability moves most.

import { shown } from "../drawing/numbers";
import type { ChangedToken } from "../engine/messages";
import "./moved_tokens.css";

export function MovedTokens({ moved }: { moved: readonly ChangedToken[] }) {
  return (
    <table class="moved-tokens">
      <caption>What it says instead: the tokens that move most</caption>
      <thead>
        <tr>
          <th scope="col">
            <span class="said">token</span>
          </th>
          <th scope="col">untouched</th>
          <th scope="col">changed</th>
        </tr>
      </thead>
      <tbody>
        {moved.map((one) => (
          <tr key={one.token}>
            <th scope="row">{one.piece}</th>
            <td>
              <Share score={one.before} kind="before" />
            </td>
            <td>
              <Share score={one.after} kind="after" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Share({ score, kind }: { score: ChangedToken["before"]; kind: "before" | "after" }) {
  return (
    <span class={`moved-share ${kind}`}>
      <i aria-hidden="true">
        <i style={{ width: `${100 * score.probability}%` }} />
      </i>
      <span>{shown(score.probability, 3)}</span>
    </span>
  );
}
