// Which models there are: a file has some of the box.

import type { AboutReply } from "../engine/messages";

/** The one that is wanted, or the first that is there. */
export function orFirst(wanted: string, { models }: AboutReply): string {
  return models.length === 0 || models.some(({ name }) => name === wanted) ? wanted : models[0]!.name;
}
