// What the model says, untouched and changed, side by side.

import { address, move } from "../../app/address";
import type { AboutModel, ChangedToken, ChangeFigures } from "../../engine/messages";
import { shown } from "../../drawing/numbers";
import { MovedTokens } from "../../parts/MovedTokens";
import { Undoable } from "../../parts/Undoable";
import { designation, inWords, written } from "./changes";
import type { Desk } from "./desk";
import { examples } from "./examples";
import { Places } from "./Places";
import { atTheText } from "./state";

export function BeforeAfter({ desk }: { desk: Desk }) {
  const { changed } = desk;
  const reply = changed.reply.value;
  const isChanged = (reply?.interventions.length ?? 0) > 0;
  const cosines = (reply?.state_cosines?.length ?? 0) > 0;
  return (
    <section class="card roles-says" aria-labelledby="says-title" aria-busy={changed.waiting.value}>
      <h2 id="says-title">{cosines ? "What becomes of the text" : "What does the model say?"}</h2>
      <Chips desk={desk} />
      <Problem desk={desk} />
      {reply && (
        <div class={`roles-answer ${changed.waiting.value || changed.error.value ? "waiting" : ""}`}>
          {reply.answer && <Answer desk={desk} reply={reply} answer={reply.answer} isChanged={isChanged} />}
          {isChanged && (
            <p class="roles-sentence" aria-live="polite">
              {reply.sentence}
            </p>
          )}
          {isChanged && reply.moved && <MovedTokens moved={reply.moved} />}
          <Places desk={desk} reply={reply} isChanged={isChanged} />
        </div>
      )}
      <Tries models={desk.about.value?.models ?? []} isChanged={desk.changes.value.length > 0} />
    </section>
  );
}

/** On a phone: what is said, always in sight. */
export function Glance({ desk }: { desk: Desk }) {
  const reply = desk.changed.reply.value;
  const answer = reply?.answer;
  if (!reply || !answer) return null;
  const isChanged = reply.interventions.length > 0;
  return (
    <button
      type="button"
      class="roles-glance"
      onClick={() => document.getElementById("says-title")?.scrollIntoView({ block: "start" })}
    >
      <span>
        at “{reply.tokens[reply.place]}” it {isChanged ? "said" : "says"} <b>{answer.piece}</b>
      </span>
      <span>
        <b>{shown(answer.before.probability, 3)}</b>
        {isChanged && (
          <>
            {" → "}
            <b class="after">{shown(answer.after.probability, 3)}</b>
          </>
        )}
      </span>
    </button>
  );
}

function Chips({ desk }: { desk: Desk }) {
  const changes = desk.changes.value;
  const tokens = desk.changed.reply.value?.tokens ?? [];
  const chosen = desk.chosen.value;
  const source = desk.head.reply.value?.keys ?? [];
  if (changes.length === 0) {
    return (
      <div class="roles-chips">
        <span class="hint">Nothing is changed yet.</span>
        {chosen && desk.changed.reply.value && (
          <button type="button" class="main" onClick={() => desk.toggle({ kind: "remove", head: designation(chosen) })}>
            Remove head {designation(chosen).replace(":", " ")}
          </button>
        )}
      </div>
    );
  }
  const take = (at: number) => desk.apply({ changes: written(changes.filter((_, n) => n !== at)) });
  return (
    <div class="roles-chips" role="group" aria-label="Changes">
      {changes.map((one, n) => {
        const isCross = /\b(cross|source):/.test(one);
        const label = inWords(one, {
          queries: /\bsource:/.test(one) ? source : tokens,
          keys: isCross ? source : tokens,
        });
        return (
          <button
            key={`${n} ${one}`}
            type="button"
            class="chip on"
            title={one}
            aria-label={`Undo: ${label}`}
            onClick={() => take(n)}
          >
            {label} <span aria-hidden="true">×</span>
          </button>
        );
      })}
      {changes.length > 1 && (
        <button type="button" class="plain small" onClick={() => desk.apply({ changes: null })}>
          Undo all
        </button>
      )}
    </div>
  );
}

const inTheirPlace = ["from_text", "token"];

function Problem({ desk }: { desk: Desk }) {
  const error = desk.changed.error.value;
  if (!error || atTheText.includes(error.field) || (inTheirPlace.includes(error.field) && desk.changed.reply.value))
    return null;
  return <Undoable message={error.message} banner={false} />;
}

interface AnswerProps {
  desk: Desk;
  reply: ChangeFigures;
  answer: ChangedToken;
  isChanged: boolean;
}

function Answer({ desk, reply, answer, isChanged }: AnswerProps) {
  const given = address.value.fields["token"] ?? "";
  const error = desk.changed.error.value;
  const own = error?.field === "token" ? error : null;
  return (
    <div class="roles-answer-row">
      <div class="roles-figure">
        <span>
          at “{reply.tokens[reply.place]}” it {isChanged ? "said" : "says"} <b>{answer.piece}</b>
        </span>
        <div class="roles-pair">
          <Score label={isChanged ? "untouched" : "likelihood"} score={answer.before} kind="before" />
          {isChanged && <Score label="changed" score={answer.after} kind="after" />}
        </div>
      </div>
      <label class="roles-token">
        <span>Another answer</span>
        <input
          value={given}
          placeholder={answer.piece}
          spellcheck={false}
          autocomplete="off"
          aria-invalid={own !== null}
          onChange={(event) => desk.apply({ token: event.currentTarget.value || null })}
        />
        {own && (
          <em class="problem" role="alert">
            {own.message}
          </em>
        )}
      </label>
    </div>
  );
}

function Score({ label, score, kind }: { label: string; score: ChangedToken["before"]; kind: "before" | "after" }) {
  return (
    <div class={`roles-score ${kind}`}>
      <small>{label}</small>
      <strong>{shown(score.probability, 4)}</strong>
      <small>rank {score.rank.toLocaleString("en")}</small>
    </div>
  );
}

function Tries({ models, isChanged }: { models: readonly AboutModel[]; isChanged: boolean }) {
  const there = examples.filter(({ fields }) => models.some(({ name }) => name === fields["model"]));
  if (there.length === 0) return null;
  const list = (
    <ul>
      {there.map((example) => (
        <li key={example.title}>
          <button type="button" onClick={() => move({ page: "roles", fields: example.fields })}>
            <b>{example.title}</b>
            <span>{example.says}</span>
          </button>
        </li>
      ))}
    </ul>
  );
  if (!isChanged)
    return (
      <div class="roles-tries">
        <h3>Or try one of these</h3>
        {list}
      </div>
    );
  return (
    <details class="roles-tries">
      <summary>Other things to try</summary>
      {list}
    </details>
  );
}
