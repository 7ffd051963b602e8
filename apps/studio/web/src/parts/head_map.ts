// A head's weights as a picture, as all pages show them.

import type { HeatmapData } from "../drawing/heatmap_marks";
import { shown } from "../drawing/numbers";
import type { HeadReply } from "../engine/messages";
import { valueAt } from "../engine/tensor";
import type { Place } from "./one_cell";
import { shadings, type Shade } from "./shade";

export function headMap(reply: HeadReply, shade: Shade): HeatmapData {
  const { second_from: second } = reply;
  const isTimes = shade === "uniform";
  return {
    rows: reply.queries,
    columns: reply.keys,
    values: (isTimes ? reply.times_uniform : reply.weights).values as ArrayLike<number>,
    hidden: reply.hidden ? (reply.hidden.values as ArrayLike<number>) : null,
    decimals: isTimes ? 1 : 3,
    scale: shadings[shade].scale,
    rowTotals: reply.query_totals.values as ArrayLike<number>,
    columnTotals: reply.key_totals.values as ArrayLike<number>,
    second: second === null ? null : { row: second, column: second },
  };
}

export function isHidden(reply: HeadReply, { row, column }: Place): boolean {
  return reply.hidden !== null && valueAt(reply.hidden, row, column) === 1;
}

/** "query cat, key sat, 0.401" */
export function saidOf(reply: HeadReply): (place: Place) => string {
  return (place) => {
    const weight = isHidden(reply, place) ? "hidden" : shown(valueAt(reply.weights, place.row, place.column), 3);
    return `query ${reply.queries[place.row] ?? ""}, key ${reply.keys[place.column] ?? ""}, ${weight}`;
  };
}

/** "8 × 8 weights, 28 hidden" */
export function summaryOf({ queries, keys, hidden }: HeadReply): string {
  let count = 0;
  for (const one of hidden?.values ?? []) count += Number(one);
  return `${queries.length} × ${keys.length} weights, ${count === 0 ? "none" : count} hidden`;
}
