// Explain: everything from words to the output in the order in which it is made, to be read from top to bottom.

import { computed, effect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, change } from "../../app/address";
import { byText } from "../../app/by_text";
import { lastReply } from "../../app/last_reply";
import type { Page, PageProps } from "../../app/page";
import { useTakings } from "../../app/use_takings";
import { asked } from "../../engine/asked";
import type { EngineError, EngineGone } from "../../engine/errors";
import type { ExplainedPart, ExplainReply, ExplainRequest, MatchRequest } from "../../engine/messages";
import { Cautions } from "../../parts/Cautions";
import { Prose } from "../../parts/Prose";
import { Part } from "./Part";
import { explainCommand, explainRequest, firstText, matchCommand, matchRequest } from "./state";
import "./explain.css";

// What stands in the address where a text does not.
const instead = { query: null, example: null, worked: null, images: null, captions: null, picture: null, sound: null };

export const explain: Page = {
  name: "explain",
  title: "Explain",
  View: ExplainPage,
  text: {
    label: "Text",
    value: (fields) => (matchRequest(fields) ? "" : String(explainRequest(fields).text ?? "")),
    isOpen: (engine, fields) => engine.answers("explain", explainRequest({ ...fields, text: "another" })),
    change: (_fields, text) => ({ text: text || firstText, ...instead }),
  },
};

function ExplainPage({ engine, takings }: PageProps) {
  const state = useMemo(() => {
    const pairs = byText<MatchRequest>(() => matchRequest(address.value.fields));
    const request = byText<ExplainRequest>(() => (pairs.value ? null : explainRequest(address.value.fields)));
    const explained = asked(engine, "explain", request);
    const matched = asked(engine, "match", pairs);
    const reply = computed(() =>
      pairs.value ? (matched.reply.value?.explanation ?? null) : explained.reply.value,
    );
    const command = () => (pairs.value ? matchCommand(pairs.value) : explainCommand(request.value ?? {}));
    const stopTimes = effect(() => {
      if (reply.value) lastReply.value = engine.lastTook;
    });
    return {
      reply,
      cautions: () => (pairs.value ? matched.reply.value?.cautions : undefined), // of an explanation among its notes
      command,
      asked: () => (pairs.value ? matched : explained),
      close: () => (stopTimes(), explained.stop(), matched.stop()),
    };
  }, [engine]);
  useEffect(() => state.close, [state]);
  const reply = state.reply.value;
  const { waiting, error, gone } = state.asked();
  useTakings(takings, () => reply ? { name: "explained", command: state.command() } : undefined, [reply]);
  const step = address.value.fields["step"];
  useEffect(() => {
    if (reply && step) document.getElementById(anchorOf(step))?.scrollIntoView();
  }, [reply, step]);
  return (
    <div class={`explain-page ${waiting.value ? "waiting" : ""}`} aria-busy={waiting.value}>
      <Problem error={error.value} gone={gone.value} />
      <Cautions of={[state.cautions()]} />
      {reply ? <Whole reply={reply} step={step} /> : !error.value && <p class="first-wait">Computing every step …</p>}
    </div>
  );
}

function Problem({ error, gone }: { error: EngineError | null; gone: EngineGone | null }) {
  const said = gone?.message ?? (error && `${error.field ? `${error.field}: ` : ""}${error.message}`);
  return said ? (
    <p class="problem banner" role="alert">
      {said} {error && <a href="#/explain">Start with the example</a>}
    </p>
  ) : null;
}

function anchorOf(name: string): string {
  return `part-${name}`;
}

/** A why may be called as a step is. */
function nameOf(part: ExplainedPart): string {
  return part.kind === "why" ? `why-${part.id}` : part.id;
}

function Whole({ reply, step }: { reply: ExplainReply; step: string | undefined }) {
  const firstWhy = reply.parts.find((part) => part.kind === "why");
  return (
    <>
      <header class="explain-head">
        <h1>{reply.title}</h1>
        <dl>
          {reply.settings.map(({ name, value }) => (
            <div key={name}>
              <dt>
                <Prose text={name} />
              </dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        {reply.notes.map((note) => (
          <p key={note}>{note}</p>
        ))}
      </header>
      <div class="explain-body">
        <nav class="explain-parts" aria-label="Steps">
          <ol>
            {reply.parts.map((part) => (
              <li key={nameOf(part)} class={part === firstWhy ? "first-why" : ""}>
                <button type="button" class="plain small" onClick={() => goTo(nameOf(part))}>
                  <span>{part.number > 0 ? part.number : part.kind === "why" ? "why" : "·"}</span>
                  <span>
                    <Prose text={part.title} />
                  </span>
                </button>
              </li>
            ))}
          </ol>
        </nav>
        <div class="explain-column">
          {reply.parts.map((part) => (
            <Part key={nameOf(part)} id={anchorOf(nameOf(part))} part={part} images={reply.images} isAsked={nameOf(part) === step} />
          ))}
        </div>
      </div>
    </>
  );
}

function goTo(name: string): void {
  change({ step: name }, "quiet");
  document.getElementById(anchorOf(name))?.scrollIntoView();
}
