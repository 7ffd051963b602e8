// Of which place of the text the model says something, and what a head's class is a mean over.

import type { AboutExample, HeadReply, HeadsReply, HeadsSite } from "../../engine/messages";
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

/** Which rows a head's class speaks of, beside the one that the example points at. */
export function classNote({ queries, keys, shown }: HeadReply, example: AboutExample | null): string | null {
  if (shown.word === "-") return null;
  const all = `A mean over all ${queries.length} queries of this text.`;
  const isPlain = plainClasses.includes(shown.word);
  const [query, key] = isPlain && example?.look ? [queries[example.query], keys[example.key]] : [];
  if (query === undefined || key === undefined) return all;
  return `${all} Its patterns are of places and of kinds of tokens: that “${query}” reads “${key}”, as said above the picture, need not be one of them.`;
}
