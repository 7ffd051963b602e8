// The text itself: one token asks, and the others are tinted by how much it reads of them.

import { ground } from "../../app/theme";
import { coloured, textColourOn } from "../../drawing/colour";
import type { HeadReply } from "../../engine/messages";
import { rowOf } from "../../engine/tensor";
import type { Desk } from "./desk";
import { heaviestKey, isHidden } from "./row";
import type { Cell } from "./state";

export const weightScale = { map: "sequential", least: 0, most: 1 } as const;

interface TokensProps {
  desk: Desk;
  reply: HeadReply;
  /** Whether the key is chosen by hand; else it is the one that the query reads most. */
  choosesKey: boolean;
  /** The keys are patches of a picture beside it. */
  isPicture: boolean;
}

export function Tokens({ desk, reply, choosesKey, isPicture }: TokensProps) {
  const isOneText = reply.queries.length === reply.keys.length && reply.queries.every((token, n) => token === reply.keys[n]);
  const cell = desk.shown.value;
  const query = cell?.query ?? null;
  const asking = { kind: "query", chosen: query, cellOf: (n: number) => ({ query: n, key: heaviestKey(reply.weights, n) }) } as const;
  const keyCell = (n: number) => ({ query: query ?? 0, key: n });
  const read = { kind: "key", chosen: choosesKey ? (cell?.key ?? null) : null, cellOf: choosesKey ? keyCell : null } as const;
  if (isPicture) {
    return <Strip desk={desk} reply={reply} label="Point at a word: where does it look?" tokens={reply.queries} {...asking} tinted={false} />;
  }
  return (
    <div class="texts">
      {isOneText && !choosesKey ? (
        <Strip desk={desk} reply={reply} label="Point at a token, or tap it: which others does it read?" tokens={reply.keys} {...asking} tinted />
      ) : (
        <>
          <Strip desk={desk} reply={reply} label="Asks" tokens={reply.queries} {...asking} tinted={false} />
          <Strip desk={desk} reply={reply} label="Is read" tokens={reply.keys} {...read} tinted />
        </>
      )}
    </div>
  );
}

interface StripProps {
  desk: Desk;
  reply: HeadReply;
  label: string;
  tokens: readonly string[];
  kind: "query" | "key";
  chosen: number | null;
  /** The pair that choosing a token means; null where none can be chosen. */
  cellOf: ((n: number) => Cell) | null;
  tinted: boolean;
}

function Strip({ desk, reply, label, tokens, kind, chosen, cellOf, tinted }: StripProps) {
  const query = desk.shown.value?.query ?? null;
  const row = tinted && query !== null ? rowOf(reply.weights, query) : null;
  const active = chosen ?? 0;
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!cellOf || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") desk.lock(cellOf(active));
    else if (event.key === "Escape") desk.lock(null);
    else if (by !== undefined) desk.hover.value = cellOf(Math.min(Math.max(active + by, 0), tokens.length - 1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const choosing = cellOf
    ? {
        role: "listbox",
        tabIndex: 0,
        "aria-activedescendant": `${kind}-${active}`,
        onKeyDown,
        onPointerLeave: () => (desk.hover.value = null),
        onBlur: () => (desk.hover.value = null),
      }
    : { role: "list" };
  return (
    <div class="strip">
      <span class="strip-label" aria-hidden="true">
        {label}
      </span>
      <div class="strip-tokens" aria-label={label} {...(choosing as object)}>
        {tokens.map((token, n) => (
          <Token
            key={n}
            token={token}
            id={cellOf ? `${kind}-${n}` : null}
            weight={row ? row[n]! : null}
            chosenAs={n === chosen ? kind : null}
            isHidden={tinted && query !== null && isHidden(reply.hidden, query, n)}
            onPoint={() => cellOf && (desk.hover.value = cellOf(n))}
            onChoose={() => cellOf && desk.lock(cellOf(n))}
          />
        ))}
      </div>
    </div>
  );
}

interface TokenProps {
  token: string;
  id: string | null;
  weight: number | null;
  chosenAs: "query" | "key" | null;
  isHidden: boolean;
  onPoint: () => void;
  onChoose: () => void;
}

function Token({ token, id, weight, chosenAs, isHidden, onPoint, onChoose }: TokenProps) {
  const background = weight !== null && !isHidden ? coloured(weightScale, weight, ground.value) : null;
  return (
    <span
      class={`token ${chosenAs ? `is-${chosenAs}` : ""} ${isHidden ? "unseen" : ""}`}
      style={background ? { background, color: textColourOn(background) } : {}}
      {...(id ? { role: "option", id, "aria-selected": chosenAs !== null } : { role: "listitem" })}
      onPointerEnter={(event) => event.pointerType !== "touch" && onPoint()}
      onClick={onChoose}
    >
      {token}
    </span>
  );
}
