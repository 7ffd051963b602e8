// The mask as text: typed, put together from words, and corrected where it is wrong.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Change } from "../../app/address";
import type { EngineError } from "../../engine/errors";
import type { MaskWordShown } from "../../engine/messages";
import { named } from "./Said";
import { faultOf, patternsOf, withOperator, withWord, type Edit } from "./mask_state";

export interface ExpressionProps {
  text: string;
  words: readonly MaskWordShown[];
  error: EngineError | null;
  onChange: (text: string, how: Change) => void;
}

const signs = [
  { sign: "&", meaning: "both masks have to show the pair" },
  { sign: "|", meaning: "one of the masks has to show the pair" },
  { sign: "!", meaning: "shows what the mask hides, and hides what it shows" },
];

export function Expression({ text, words, error, onChange }: ExpressionProps) {
  const field = useRef<HTMLInputElement>(null);
  const told = useSignal<string | null>(null);
  const put = (edit: (text: string, from: number, to: number) => Edit) => () => {
    const input = field.current;
    const { text: next, caret } = edit(text, input?.selectionStart ?? text.length, input?.selectionEnd ?? text.length);
    onChange(next, "done");
    requestAnimationFrame(() => {
      input?.focus({ preventScroll: true });
      input?.setSelectionRange(caret, caret);
    });
  };
  const tell = (meaning: string) => ({
    onPointerEnter: () => (told.value = meaning),
    onPointerLeave: () => (told.value = null),
    onFocus: () => (told.value = meaning),
    onBlur: () => (told.value = null),
  });
  const usable = words.filter((word) => word.example);
  return (
    <section class="card expression" aria-label="The mask">
      <label class="expression-field">
        <span>
          A query sees a key if <span class="said">this mask shows the pair</span>
        </span>
        <input
          ref={field}
          value={text}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          aria-invalid={error !== null}
          aria-describedby={error ? "mask-fault" : undefined}
          onInput={(event) => onChange(event.currentTarget.value, "drag")}
          onChange={(event) => onChange(event.currentTarget.value, "done")}
        />
      </label>
      <Fault text={text} error={error} field={field} onChange={onChange} />
      <div class="chips" role="group" aria-label="Words that go into the mask">
        {usable.map((word) => (
          <button
            key={word.word}
            type="button"
            class="chip"
            aria-label={`${word.word}: ${plain(word.meaning)}`}
            onClick={put((now, from, to) => withWord(now, from, to, word.example))}
            {...tell(`${plain(word.form)}: ${plain(word.meaning)}. Puts in ${word.example}`)}
          >
            {word.word}
          </button>
        ))}
        {signs.map(({ sign, meaning }) => (
          <button
            key={sign}
            type="button"
            class="chip sign"
            aria-label={`${sign}: ${meaning}`}
            onClick={put((now, from, to) => withOperator(now, from, to, sign))}
            {...tell(`${sign} ${meaning}`)}
          >
            {sign}
          </button>
        ))}
      </div>
      <p class="chip-meaning hint" aria-hidden="true">
        {told.value ?? "Point at a word to read what it shows; press it to put it in."}
      </p>
      <div class="chips known" role="group" aria-label="Masks that models have">
        <span class="hint">as in</span>
        {patternsOf(usable).map(({ name, mask }) => (
          <button
            key={name}
            type="button"
            class="plain small"
            aria-pressed={mask === text}
            title={mask}
            onClick={() => onChange(mask, "done")}
          >
            {name}
          </button>
        ))}
      </div>
    </section>
  );
}

function plain(text: string): string {
  return text.replaceAll("`", "");
}

interface FaultProps {
  text: string;
  error: EngineError | null;
  field: { current: HTMLInputElement | null };
  onChange: (text: string, how: Change) => void;
}

function Fault({ text, error, field, onChange }: FaultProps) {
  const line = useRef<HTMLPreElement>(null);
  useEffect(
    () => line.current?.querySelector("mark")?.scrollIntoView?.({ block: "nearest", inline: "nearest" }),
    [error],
  );
  if (!error) return null;
  if (error.column === null) {
    return (
      <p class="problem" id="mask-fault" role="status">
        {named(error)}
      </p>
    );
  }
  const { before, bad, after, says, meant } = faultOf(text, error.column, error.message);
  const select = () => {
    field.current?.focus();
    field.current?.setSelectionRange(before.length, before.length + bad.length);
  };
  return (
    <div class="fault" id="mask-fault" role="status">
      <pre ref={line} aria-hidden="true">
        {before}
        <mark>{bad || " "}</mark>
        {after}
      </pre>
      <p class="problem">
        Column {error.column}: {says.replaceAll("`", "")}
      </p>
      <button
        type="button"
        class="plain small"
        onClick={meant ? () => onChange(before + meant + after, "done") : select}
      >
        {meant ? `Write ${meant}` : `Go to column ${error.column}`}
      </button>
    </div>
  );
}
