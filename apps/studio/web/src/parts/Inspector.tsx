// One number written out: its sum, what it is made of, what is made from it.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { EngineError } from "../engine/errors";
import type { Reply } from "../engine/engine";
import { withMinus } from "../drawing/numbers";
import { Formula } from "./Formula";
import { Prose } from "./Prose";
import "./inspector.css";

export interface InspectorProps {
  reply: Reply<"number"> | null;
  error: EngineError | null;
  pinned: boolean;
  was: string | null;
  onPin: (name: string | null) => void;
  /** Buttons and fields of the page for this number. */
  children?: ComponentChildren;
}

export function Inspector({ reply, error, pinned, was, onPin, children }: InspectorProps) {
  const copied = useSignal("");
  if (!reply) {
    return (
      <div class="inspector empty">
        {error ? (
          <p class="problem">{error.message}</p>
        ) : (
          <p>
            <b>Where does a number come from?</b> Point at any number to see the sum that makes it. Click to keep it here.
          </p>
        )}
      </div>
    );
  }
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(reply.full);
      copied.value = reply.name;
    } catch {
      copied.value = "";
    }
  };
  return (
    <div class="inspector">
      <div class="inspector-head">
        <span class="inspector-label">
          <Prose text={reply.label} />
        </span>
        {pinned && (
          <button type="button" class="icon small" aria-label="Let go of this number" onClick={() => onPin(null)}>
            ×
          </button>
        )}
      </div>
      <div class={`inspector-value ${reply.shown.length > 10 ? "long" : ""}`}>
        {withMinus(reply.shown)}
        {was && <small>was {was}</small>}
      </div>
      {reply.formula.text && <Formula formula={reply.formula} />}
      <p>
        <Prose text={reply.meaning} />
      </p>
      {children}
      {pinned && (
        <button type="button" class="plain small" onClick={() => void copy()}>
          {copied.value === reply.name ? "Copied" : "Copy all digits"}
        </button>
      )}
    </div>
  );
}
