// The map of one head over the text. A click, or Enter, cuts the edge from a query to a key, and mends it again.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, change } from "../../app/address";
import { coarse } from "../../app/theme";
import { shown } from "../../drawing/numbers";
import type { HeadReply } from "../../engine/messages";
import { valueAt } from "../../engine/tensor";
import { headMap, isHidden } from "../../parts/head_map";
import { Heatmap } from "../../parts/Heatmap";
import { Legend } from "../../parts/Legend";
import type { Place } from "../../parts/one_cell";
import { nextShade, shadeOf, shadings } from "../../parts/shade";
import type { Edge } from "./changes";

export interface EdgeMapProps {
  reply: HeadReply;
  label: string;
  cuts: readonly Edge[];
  /** The row of the place that is looked at. */
  place: number | null;
  /** None: the map is only looked at. */
  onCut: ((query: number, key: number) => void) | null;
}

const largestCell = 44;
const nothing = signal<Place | null>(null);

export function EdgeMap({ reply, label, cuts, place, onCut }: EdgeMapProps) {
  const at = useSignal<Place | null>(null);
  useEffect(() => void (at.value = null), [reply.queries.join()]);
  const shade = shadeOf(address.value.fields);
  const data = useMemo(() => headMap(reply, shade), [reply, shade]);
  const isCut = (one: Place) => cuts.some(({ query, key }) => query === one.row && key === one.column);
  const cut = (one: Place | null) => one && onCut && !isHidden(reply, one) && onCut(one.row, one.column);
  const howTo = onCut ? " Arrow keys go from cell to cell, Enter cuts." : "";
  return (
    <div class="edge-map">
      <Heatmap
        {...data}
        struck={cuts.map(({ query, key }) => ({ row: query, column: key }))}
        framedRow={place}
        largest={largestCell}
        crossed
        summary={`${label}: ${reply.queries.length} queries down, ${reply.keys.length} keys across.${howTo}`}
        start={{ row: place ?? reply.queries.length - 1, column: 0 }}
        pointed={at}
        locked={nothing}
        onLock={cut}
        said={(one) => edgeWords(reply, one, isCut(one))}
      />
      <Legend {...shadings[shade]} decimals={2} what="weights" onClick={() => change(nextShade(shade), "quiet")} />
      <p class="edge-said" aria-hidden="true">
        <span>{at.value ? edgeWords(reply, at.value, isCut(at.value)) : onCut && <em>{hint()}</em>}</span>
        {at.value && onCut && !isHidden(reply, at.value) && (
          <button type="button" class="small touch-only" tabIndex={-1} onClick={() => cut(at.value)}>
            {isCut(at.value) ? "Mend" : "Cut"}
          </button>
        )}
      </p>
    </div>
  );
}

function hint(): string {
  return coarse.value ? "Tap a cell to read it, and again to cut it." : "Click a cell to cut that edge.";
}

function edgeWords(reply: HeadReply, { row, column }: Place, isCut: boolean): string {
  const words = `“${reply.queries[row] ?? ""}” (${row}) reads “${reply.keys[column] ?? ""}” (${column})`;
  if (isHidden(reply, { row, column })) return `${words}: hidden by the mask`;
  return `${words}: ${shown(valueAt(reply.weights, row, column), 4)}${isCut ? ", cut" : ""}`;
}
