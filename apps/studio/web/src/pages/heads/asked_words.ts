// Of which place of the text the model says something, and what a head's class is a mean over.

import type { AboutExample, HeadPattern, HeadReply, HeadsReply, HeadsSite } from "../../engine/messages";
import { plainClasses, type Cell } from "./state";

/** "the last token", where it is; else its place. */
export function askedPlace({ asked_at }: HeadsReply, site: HeadsSite): string {
  return site.site !== "source" && asked_at === site.queries.length - 1 ? `@${asked_at}, the last token` : `@${asked_at}`;
}

/** What the model says does not follow the query that is chosen; null where that one is the place asked at. */
export function askedNote({ asked, asked_at }: HeadsReply, site: HeadsSite, cell: Cell | null): string | null {
  if (!cell || (site.site !== "source" && cell.query === asked_at)) return null;
  const chosen = site.queries[cell.query];
  return chosen === undefined
    ? null
    : `The model is asked at “${asked}” alone; choosing “${chosen}” @${cell.query} shows what that one reads, and changes nothing here.`;
}

const mostMeans = 5;

/** The patterns whose mean weights stand below a head's class, largest first. */
export function meansShown({ patterns }: HeadReply): HeadPattern[] {
  return patterns
    .filter((one) => one.rows > 1)
    .sort((a, b) => b.share - a.share)
    .slice(0, mostMeans);
}

/** How many queries the means are over: a pattern's is over those that see a key of it. */
function meanOver(queries: number, means: readonly HeadPattern[]): string {
  const rows = means.map((one) => one.rows);
  const [least, most] = [Math.min(queries, ...rows), rows.length > 0 ? Math.max(...rows) : queries];
  if (least === queries) return queries === 1 ? "Of the one query of this text." : `A mean over all ${queries} queries of this text.`;
  const counted = least === most ? `${least}` : `${least} to ${most}`;
  return `Means over the queries that see such a key: ${counted} of the ${queries} of this text.`;
}

/** Which rows a head's class speaks of, beside the one that the example points at. */
export function classNote(head: HeadReply, example: AboutExample | null): string | null {
  const { queries, keys, shown } = head;
  if (shown.word === "-") return null;
  const all = meanOver(queries.length, meansShown(head));
  const isPlain = plainClasses.includes(shown.word);
  const [query, key] = isPlain && example?.look ? [queries[example.query], keys[example.key]] : [];
  if (query === undefined || key === undefined) return all;
  return `${all} Its patterns are of places and of kinds of tokens: that “${query}” reads “${key}”, as said above the picture, need not be one of them.`;
}
