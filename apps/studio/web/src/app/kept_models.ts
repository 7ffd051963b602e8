// Of the replies that a page takes along: which models they show, and the choice of models without those that stay behind.

import { FrameReader, frameBytes, frameKind, joined } from "../engine/frames";
import type { AboutReply } from "../engine/messages";

const about = "about {}";

/** What the field `model` is in requests, "NAME {request}". */
export function shownModels(keys: Iterable<string>): Set<string> {
  const models = [...keys].map((key) => (JSON.parse(key.slice(key.indexOf(" "))) as { model?: string }).model);
  return new Set(models.filter((model) => model !== undefined));
}

/** The replies, of which `about` lists the models alone that `isKept`. */
export function keptModels(replies: ReadonlyMap<string, Uint8Array>, isKept: (name: string) => boolean): Map<string, Uint8Array> {
  const kept = new Map(replies);
  const reply = replies.get(about);
  if (!reply) return kept;
  const frames = new FrameReader().push(reply).map(({ kind, payload }) => {
    if (kind !== frameKind.reply) return frameBytes(kind, payload);
    const told = JSON.parse(new TextDecoder().decode(payload)) as AboutReply;
    const narrowed = { ...told, models: told.models.filter(({ name }) => isKept(name)) };
    return frameBytes(kind, new TextEncoder().encode(JSON.stringify(narrowed)));
  });
  kept.set(about, joined(frames));
  return kept;
}
