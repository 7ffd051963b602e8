// The text itself: one token asks, and the others are tinted by how much it reads of them.

import { useRef } from "preact/hooks";
import { ground } from "../../app/theme";
import { coloured, textColourOn } from "../../drawing/colour";
import type { HeadReply } from "../../engine/messages";
import { rowOf } from "../../engine/tensor";
import type { Desk } from "./desk";
import { heaviestKey, isHidden } from "./row";

export const weightScale = { map: "sequential", least: 0, most: 1 } as const;

interface TokensProps {
  desk: Desk;
  reply: HeadReply;
}

export function Tokens({ desk, reply }: TokensProps) {
  const query = desk.shown.value?.query ?? null;
  const isOneText = reply.queries.length === reply.keys.length && reply.queries.every((token, n) => token === reply.keys[n]);
  return (
    <div class="texts">
      {isOneText ? (
        <Strip desk={desk} reply={reply} label="Point at a token: which others does it read?" tokens={reply.keys} query={query} asks tinted />
      ) : (
        <>
          <Strip desk={desk} reply={reply} label="Asks" tokens={reply.queries} query={query} asks tinted={false} />
          <Strip desk={desk} reply={reply} label="Is read" tokens={reply.keys} query={query} asks={false} tinted />
        </>
      )}
    </div>
  );
}

interface StripProps extends TokensProps {
  label: string;
  tokens: readonly string[];
  query: number | null;
  asks: boolean;
  tinted: boolean;
}

function Strip({ desk, reply, label, tokens, query, asks, tinted }: StripProps) {
  const box = useRef<HTMLDivElement>(null);
  const row = tinted && query !== null ? rowOf(reply.weights, query) : null;
  const cellOf = (n: number) => ({ query: n, key: heaviestKey(reply.weights, n) });
  const active = query ?? 0;
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Enter") desk.lock(cellOf(active));
    else if (event.key === "Escape") desk.lock(null);
    else if (by !== undefined) desk.hover.value = cellOf(Math.min(Math.max(active + by, 0), tokens.length - 1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const choosing = asks
    ? {
        role: "listbox",
        tabIndex: 0,
        "aria-activedescendant": `asks-${active}`,
        onKeyDown,
        onPointerLeave: () => (desk.hover.value = null),
        onBlur: () => (desk.hover.value = null),
      }
    : { role: "list" };
  return (
    <div class="strip">
      <span class="strip-label" aria-hidden="true">{label}</span>
      <div ref={box} class="strip-tokens" aria-label={label} {...(choosing as object)}>
        {tokens.map((token, n) => (
          <Token
            key={n}
            token={token}
            n={n}
            weight={row ? row[n]! : null}
            isQuery={asks && n === query}
            isHidden={tinted && query !== null && isHidden(reply.hidden, query, n)}
            isOption={asks}
            onPoint={asks ? () => (desk.hover.value = cellOf(n)) : undefined}
            onChoose={asks ? () => desk.lock(cellOf(n)) : undefined}
          />
        ))}
      </div>
    </div>
  );
}

interface TokenProps {
  token: string;
  n: number;
  weight: number | null;
  isQuery: boolean;
  isHidden: boolean;
  isOption: boolean;
  onPoint: (() => void) | undefined;
  onChoose: (() => void) | undefined;
}

function Token({ token, n, weight, isQuery, isHidden, isOption, onPoint, onChoose }: TokenProps) {
  const background = weight !== null && !isHidden ? coloured(weightScale, weight, ground.value) : null;
  return (
    <span
      class={`token ${isQuery ? "asking" : ""} ${isHidden ? "unseen" : ""}`}
      style={background ? { background, color: textColourOn(background) } : {}}
      {...(isOption ? { role: "option", id: `asks-${n}`, "aria-selected": isQuery } : { role: "listitem" })}
      onPointerEnter={(event) => event.pointerType !== "touch" && onPoint?.()}
      onClick={onChoose}
    >
      {token}
    </span>
  );
}
