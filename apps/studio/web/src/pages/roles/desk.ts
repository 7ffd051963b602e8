// What stands between the address and the page: three questions, and which head is looked at.

import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { address, change, type Change as How } from "../../app/address";
import { byText } from "../../app/by_text";
import { lastReply } from "../../app/last_reply";
import { asked, type Asked } from "../../engine/asked";
import type { Engine } from "../../engine/engine";
import type { AboutReply, AnalyzeRequest, ChangeRequest, HeadRequest, RolesHead } from "../../engine/messages";
import { changesIn, toggled, written, type Change } from "./changes";
import { columnsOf, orderOf, sorted } from "./columns";
import { headsAsked, type HeadsAsked } from "./heads_asked";
import { exampleOf, headName, parsedHead, type HeadAt } from "../heads/state";
import {
  analyzeRequest,
  changedHeadRequest,
  changeRequest,
  headRequest,
  inputsOf,
  withNewText,
  type FieldChanges,
  type Inputs,
} from "./state";

export interface Desk {
  engine: Engine;
  about: Signal<AboutReply | null>;
  inputs: ReadonlySignal<Inputs>;
  roles: HeadsAsked;
  head: Asked<"head">;
  /** The same head once the changes are made; nothing is asked where there are none. */
  headAfter: Asked<"head">;
  changed: Asked<"change">;
  /** In the order of the table. */
  heads: ReadonlySignal<RolesHead[]>;
  chosen: ReadonlySignal<HeadAt | null>;
  changes: ReadonlySignal<string[]>;
  apply: (changes: FieldChanges, how?: How) => void;
  /** Another model or text. */
  read: (changes: FieldChanges) => void;
  choose: (head: HeadAt) => void;
  toggle: (change: Change) => void;
  close: () => void;
}

export function openDesk(engine: Engine): Desk {
  const about = signal<AboutReply | null>(null);
  const known = signal(false);
  engine.ask("about", {}).then(
    (reply) => {
      about.value = reply;
      known.value = true;
    },
    () => (known.value = true), // the other questions will say what is wrong
  );
  const fields = computed(() => address.value.fields);
  const inputs = computed(() => inputsOf(fields.value, about.value));
  const wanted = byText<AnalyzeRequest>(() => (known.value ? analyzeRequest(inputs.value, fields.value) : null));
  const roles = headsAsked(engine, wanted);
  const heads = computed(() => {
    const reply = roles.reply.value;
    return reply && roles.isCurrent.value ? sorted(reply.heads, columnsOf(reply), orderOf(fields.value["sort"])) : [];
  });
  const chosen = computed<HeadAt | null>(() => {
    const named = parsedHead(fields.value["head"]);
    if (named || !known.value) return named;
    const example = about.value && exampleOf(inputs.value, about.value);
    if (example) return { site: example.site, layer: example.layer, head: example.head };
    const reply = roles.reply.value;
    if (reply && roles.isCurrent.value) return telling(reply.heads);
    return roles.error.value || roles.isStopped.value ? { site: "tokens", layer: 0, head: 0 } : null;
  });
  const head = asked(
    engine,
    "head",
    byText<HeadRequest>(() => (known.value && chosen.value ? headRequest(inputs.value, chosen.value) : null)),
  );
  const headAfterChanges = asked(
    engine,
    "head",
    byText<HeadRequest>(() =>
      known.value && chosen.value ? changedHeadRequest(inputs.value, fields.value, chosen.value) : null,
    ),
  );
  const changed = asked(
    engine,
    "change",
    byText<ChangeRequest>(() => (known.value ? changeRequest(inputs.value, fields.value) : null)),
  );
  const changes = computed(() => changesIn(fields.value["changes"]));
  const stopTimes = effect(() => {
    if (changed.reply.value) lastReply.value = engine.lastTook;
  });

  return {
    engine,
    about,
    inputs,
    roles,
    head,
    headAfter: headAfterChanges,
    changed,
    heads,
    chosen,
    changes,
    apply: (next, how = "done") => change(next, how),
    read: (next) => change(withNewText(inputs.value, fields.value, next)),
    choose: (next) => change({ head: headName(next) }, "quiet"),
    toggle: (one) => change({ changes: written(toggled(changes.value, one)) }),
    close: () => {
      stopTimes();
      roles.close();
      head.stop();
      headAfterChanges.stop();
      changed.stop();
    },
  };
}

/** The head to look at first: one of induction, or the sharpest of those that a pattern names. */
export function telling(heads: readonly RolesHead[]): HeadAt | null {
  const named = heads.filter((head) => head.word !== "mixed" && head.word !== "broad");
  const rank = (head: RolesHead) => (head.word === "induction" ? -1 : head.evenness);
  const [first] = [...(named.length > 0 ? named : heads)].sort((a, b) => rank(a) - rank(b));
  return first ? { site: first.site, layer: first.layer, head: first.head } : null;
}

/** The head `by` places further in the table, round its ends. */
export function headAfter(heads: readonly RolesHead[], now: HeadAt | null, by: number): HeadAt | null {
  const at = heads.findIndex((head) => now !== null && headName(head) === headName(now));
  const next = heads[(((at < 0 ? 0 : at + by) % heads.length) + heads.length) % heads.length];
  return next ? { site: next.site, layer: next.layer, head: next.head } : null;
}

/** The first head of the layer `by` layers further. */
export function layerAfter(heads: readonly RolesHead[], now: HeadAt | null, by: number): HeadAt | null {
  const keys = [...new Set(heads.map((head) => `${head.site}.${head.layer}`))];
  const at = now ? keys.indexOf(`${now.site}.${now.layer}`) : -1;
  const next = keys[(((at + by) % keys.length) + keys.length) % keys.length];
  const [site = "", layer = ""] = (next ?? "").split(".");
  const inLayer = heads.filter((head) => head.site === site && head.layer === Number(layer));
  const same = inLayer.find((head) => head.head === now?.head) ?? inLayer[0];
  return same ? { site: same.site, layer: same.layer, head: same.head } : null;
}
