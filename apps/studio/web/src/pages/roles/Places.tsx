// The text, with how much each place changed below its token. A tap chooses the place that is looked at.

import { useEffect, useRef } from "preact/hooks";
import { shown } from "../../drawing/numbers";
import type { ChangeFigures } from "../../engine/messages";
import type { Desk } from "./desk";
import { barsOf } from "./places_bars";

interface PlacesProps {
  desk: Desk;
  reply: ChangeFigures;
  isChanged: boolean;
}

export function Places({ desk, reply, isChanged }: PlacesProps) {
  const list = useRef<HTMLDivElement>(null);
  const bars = isChanged ? barsOf(reply) : null;
  useEffect(() => {
    const box = list.current;
    const chosen = box?.querySelector<HTMLElement>("[aria-checked=true]");
    if (box && chosen) box.scrollTop = chosen.offsetTop - box.clientHeight / 2;
  }, [reply.tokens.length, reply.place]);
  const choose = (place: number) => desk.apply({ query: String(place), token: null }, "quiet");
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.min(Math.max(reply.place + by, 0), reply.tokens.length - 1);
    choose(next);
    list.current?.querySelectorAll<HTMLElement>("[role=radio]")[next]?.focus();
  };
  return (
    <div class="roles-places">
      <h3>{bars ? bars.title : "The text: tap where to look"}</h3>
      <div class="places" role="radiogroup" aria-label="Where it is looked at" ref={list} onKeyDown={onKeyDown}>
        {reply.tokens.map((token, place) => (
          <button
            key={place}
            type="button"
            role="radio"
            aria-checked={place === reply.place}
            aria-label={`${token}, place ${place}${bars ? `, ${bars.unit} ${shown(bars.values[place] ?? 0, 3)}` : ""}`}
            tabIndex={place === reply.place ? 0 : -1}
            onClick={() => choose(place)}
          >
            <span>{token}</span>
            {bars && (
              <>
                <i aria-hidden="true">
                  <i style={{ height: `${100 * (bars.heights[place] ?? 0)}%` }} />
                </i>
                <small aria-hidden="true">{shown(bars.values[place] ?? 0, bars.decimals)}</small>
              </>
            )}
          </button>
        ))}
      </div>
      {bars && <p class="hint">{bars.says}</p>}
    </div>
  );
}
