// All heads, small: which site, which layers, which classes, and the one that is looked at.

import { address } from "../../app/address";
import type { HeadsClass, HeadsReply, HeadsSite } from "../../engine/messages";
import { HeadMaps } from "../../parts/HeadMaps";
import type { Desk } from "./desk";

const siteNames: Readonly<Record<string, readonly [string, string]>> = {
  cross: ["Cross", "the text reads its source"],
  tokens: ["Text", "the text reads itself"],
  source: ["Source", "the source reads itself"],
};

interface AllHeadsProps {
  desk: Desk;
  reply: HeadsReply;
  site: HeadsSite;
  largestMap: number;
}

export function AllHeads({ desk, reply, site, largestMap }: AllHeadsProps) {
  const { fields } = address.value;
  const layer = layerOf(fields["layer"], site);
  const word = fields["class"] ?? null;
  const matches = (one: HeadsClass) => word === null || one.word === word;
  return (
    <div class="all-heads">
      {reply.sites.length > 1 && <Sites desk={desk} reply={reply} site={site} />}
      <HeadMaps
        site={site}
        chosen={desk.chosen.value?.site === site.site ? desk.chosen.value : null}
        layer={layer}
        matches={matches}
        largestMap={largestMap}
        onPreview={(at) => (desk.previewed.value = at && { site: site.site, ...at })}
        onChoose={(at) => desk.choose({ site: site.site, ...at })}
      />
      <div class="head-filters">
        {site.layers > 1 && (
          <label>
            <span>Layers</span>
            <select value={layer === null ? "" : String(layer)} onChange={(event) => desk.apply({ layer: event.currentTarget.value })}>
              <option value="">all</option>
              {Array.from({ length: site.layers }, (_, n) => (
                <option key={n} value={String(n)}>
                  {n}
                </option>
              ))}
            </select>
          </label>
        )}
        <Classes desk={desk} site={site} word={word} />
      </div>
    </div>
  );
}

function layerOf(text: string | undefined, site: HeadsSite): number | null {
  const layer = Number(text || "NaN");
  return Number.isInteger(layer) && layer >= 0 && layer < site.layers ? layer : null;
}

function Sites({ desk, reply, site }: { desk: Desk; reply: HeadsReply; site: HeadsSite }) {
  return (
    <div class="segmented sites" role="group" aria-label="Which attention">
      {reply.sites.map((one) => (
        <button
          key={one.site}
          type="button"
          aria-pressed={one === site}
          title={siteNames[one.site]?.[1]}
          onClick={() => desk.choose({ site: one.site, layer: 0, head: 0 })}
        >
          {siteNames[one.site]?.[0] ?? one.site}
        </button>
      ))}
    </div>
  );
}

/** How many heads do what; pressing one leaves the others pale. */
function Classes({ desk, site, word }: { desk: Desk; site: HeadsSite; word: string | null }) {
  const counts = new Map<string, number>();
  for (const one of site.classes) counts.set(one.word, (counts.get(one.word) ?? 0) + 1);
  if (counts.size < 2) return null;
  return (
    <div class="head-classes" role="group" aria-label="What heads do">
      {[...counts]
        .sort((a, b) => b[1] - a[1])
        .map(([name, count]) => (
          <button key={name} type="button" aria-pressed={name === word} onClick={() => desk.apply({ class: name === word ? null : name })}>
            {name === "-" ? "too short" : name} <small>{count}</small>
          </button>
        ))}
    </div>
  );
}
