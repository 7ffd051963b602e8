// What the page asks: the run, again and again while it is at work, and one head of each model that it kept.

import { computed, effect, signal, untracked, type ReadonlySignal, type Signal } from "@preact/signals";
import { address, change } from "../../app/address";
import { byText } from "../../app/by_text";
import { asked } from "../../engine/asked";
import type { Engine } from "../../engine/engine";
import { EngineError, wasAborted } from "../../engine/errors";
import type { HeadReply, HeadRequest, HeadsReply, HeadsRequest, LearnModel, LearnReply } from "../../engine/messages";
import type { Site } from "../heads/state";
import { chosenOf, modelAt, spread, type Chosen } from "./state";
import { training } from "./training";

const againAfter = 2000; // milliseconds, while a run is at work
export const filmLength = 8; // maps of one head, side by side

export interface Desk {
  chosen: ReadonlySignal<Chosen>;
  run: Signal<LearnReply | null>;
  error: Signal<string | null>;
  /** The model that is shown, and all heads of it. */
  model: ReadonlySignal<LearnModel | null>;
  heads: Signal<HeadsReply | null>;
  headsError: ReadonlySignal<string | null>;
  /** The chosen head of that model. */
  head: Signal<HeadReply | null>;
  /** The chosen head in each model of the film, by its step. */
  film: Signal<ReadonlyMap<number, HeadReply>>;
  filmed: ReadonlySignal<LearnModel[]>;
  close(): void;
}

function said(error: unknown): string | null {
  if (wasAborted(error)) return null;
  return error instanceof EngineError && error.field ? `${error.field}: ${error.message}` : String(error instanceof Error ? error.message : error);
}

export function openDesk(engine: Engine): Desk {
  const chosen = computed(() => chosenOf(address.value.fields));
  const runName = computed(() => chosen.value.run);
  const run = signal<LearnReply | null>(null);
  const error = signal<string | null>(null);
  const model = computed(() => modelAt(run.value?.kept ?? [], chosen.value.step));
  const ofModel = <T extends object>(what: (chosen: Chosen) => T) =>
    byText(() => (model.value ? { model: model.value.path, ...what(chosen.value) } : null));
  const heads = asked(engine, "heads", ofModel(readOf));
  const head = asked(engine, "head", ofModel(headOf));
  const headsError = computed(() => {
    const problem = heads.error.value ?? heads.gone.value ?? head.error.value ?? head.gone.value;
    return problem && said(problem);
  });
  const film = signal<ReadonlyMap<number, HeadReply>>(new Map());
  const filmed = computed(() => spread(run.value?.kept ?? [], filmLength));
  const filmedPaths = computed(() => filmed.value.map((one) => one.path).join("\n"));
  const headAsked = computed(() => JSON.stringify(headOf(chosen.value)));

  const followed = effect(() => {
    const request = runName.value ? { run: runName.value } : {};
    const isOurs = training.hasBegun.value;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    const again = async (): Promise<void> => {
      try {
        const reply = await engine.ask("learn", request, { signal: abort.signal, anew: true });
        run.value = reply;
        error.value = null;
        const [only] = reply.runs;
        if (!runName.peek() && only && reply.runs.length === 1) change({ run: only.directory }, "quiet");
        if ((isOurs || reply.run?.at_work) && !abort.signal.aborted) timer = setTimeout(() => void again(), againAfter);
      } catch (problem) {
        error.value = said(problem) ?? error.value;
      }
    };
    void again();
    return () => {
      abort.abort();
      if (timer !== null) clearTimeout(timer);
    };
  });

  const filming = effect(() => {
    const what = JSON.parse(headAsked.value) as object;
    const paths = filmedPaths.value;
    const models = paths ? untracked(() => filmed.value) : [];
    const abort = new AbortController();
    void (async () => {
      const seen = new Map<number, HeadReply>();
      for (const one of models) {
        try {
          seen.set(one.step, await engine.ask("head", { model: one.path, ...what }, { signal: abort.signal }));
        } catch (problem) {
          if (wasAborted(problem)) return;
          break; // said where all heads are asked for
        }
        film.value = new Map(seen);
      }
    })();
    return () => abort.abort();
  });

  const close = () => [followed, heads.stop, head.stop, filming].forEach((end) => end());
  return { chosen, run, error, model, heads: heads.reply, headsError, head: head.reply, film, filmed, close };
}

function readOf({ text, example }: Chosen): HeadsRequest {
  return text ? { text } : { example };
}

function headOf(chosen: Chosen): HeadRequest {
  const { site, layer, head } = chosen;
  return { ...readOf(chosen), ...(site && { site: site as Site }), layer, head };
}
