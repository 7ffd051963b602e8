// Explain: everything from words to the output in the order in which it is made, to be read from top to bottom.

import type { Signal } from "@preact/signals";
import { computed, effect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, change } from "../../app/address";
import { lastReply } from "../../app/last_reply";
import type { Page, PageProps, Takings } from "../../app/page";
import { asked, type Asked } from "../../engine/asked";
import type { ExplainedPart, ExplainReply, ExplainRequest } from "../../engine/messages";
import { Prose } from "../../parts/Prose";
import { Part } from "./Part";
import { explainCommand, explainRequest, firstText } from "./state";
import "./explain.css";

export const explain: Page = {
  name: "explain",
  title: "Explain",
  View: ExplainPage,
  text: {
    label: "Text",
    value: (fields) => String(explainRequest(fields).text ?? ""),
    isOpen: (engine, fields) => engine.answers("explain", explainRequest({ ...fields, text: "another" })),
    change: (_fields, text) => ({ text: text || firstText, query: null, example: null, worked: null }),
  },
};

function ExplainPage({ engine, takings }: PageProps) {
  const state = useMemo(() => {
    const text = computed(() => JSON.stringify(explainRequest(address.value.fields)));
    const request = computed(() => JSON.parse(text.value) as ExplainRequest);
    const reply = asked(engine, "explain", request);
    const stopTimes = effect(() => {
      if (reply.reply.value) lastReply.value = engine.lastTook;
    });
    return { request, reply, close: () => (stopTimes(), reply.stop()) };
  }, [engine]);
  useEffect(() => state.close, [state]);
  const reply = state.reply.reply.value;
  useTakings(takings, reply, state.request.value);
  const step = address.value.fields["step"];
  useEffect(() => {
    if (reply && step) document.getElementById(anchorOf(step))?.scrollIntoView();
  }, [reply, step]);
  return (
    <div class={`explain-page ${state.reply.waiting.value ? "waiting" : ""}`} aria-busy={state.reply.waiting.value}>
      <Problem asked={state.reply} />
      {reply ? <Whole reply={reply} step={step} /> : !state.reply.error.value && <p class="first-wait">Computing every step …</p>}
    </div>
  );
}

function Problem({ asked: { error, gone } }: { asked: Asked<"explain"> }) {
  const said = gone.value?.message ?? (error.value && `${error.value.field ? `${error.value.field}: ` : ""}${error.value.message}`);
  return said ? (
    <p class="problem banner" role="alert">
      {said} {error.value && <a href="#/explain">Start with the example</a>}
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

function useTakings(takings: Signal<Takings | null>, reply: ExplainReply | null, request: ExplainRequest): void {
  useEffect(() => {
    if (reply) takings.value = { name: "explained", command: explainCommand(request) };
  }, [reply]);
  useEffect(() => () => void (takings.value = null), []);
}
