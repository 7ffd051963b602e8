// In code: the operations of the step one is at, where qkv does them, and in a language of the reader's choice.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { address, change } from "../../app/address";
import type { Operation, OperationsReply } from "../../engine/messages";
import { Formula } from "../../parts/Formula";
import type { Bench } from "./bench";
import "./in_code.css";

const table = signal<OperationsReply | null>(null);

/** Those of the step, or all where it has none of its own. */
export function operationsOf(reply: OperationsReply, step: string): Operation[] {
  const own = reply.operations.filter((one) => one.steps.includes(step));
  return own.length > 0 ? own : reply.operations;
}

export function InCode({ bench }: { bench: Bench }) {
  const language = address.value.fields["code"] ?? "";
  useEffect(() => {
    if (table.value) return;
    bench.engine
      .ask("operations", {})
      .then((reply) => (table.value = reply))
      .catch(() => undefined); // the bench itself says that the engine is gone
  }, [bench]);
  const reply = table.value;
  if (!reply) return null;
  const step = bench.stop.value.step;
  const shown = operationsOf(reply, step?.id ?? "");
  const title = reply.languages.find((one) => one.id === language)?.title;
  return (
    <section class="card in-code" aria-labelledby="in-code-title">
      <div class="wrong-row">
        <h2 id="in-code-title">In code</h2>
        {reply.languages.map((one) => (
          <button key={one.id} type="button" class="chip" aria-expanded={one.id === language} onClick={() => change({ code: one.id === language ? null : one.id })}>
            {one.title}
          </button>
        ))}
      </div>
      {title && (
        <div class="operations">
          {shown.map((one) => (
            <article key={one.id}>
              <h3>
                {one.title} <Formula formula={one.formula} />
              </h3>
              <p>{one.why}</p>
              <pre tabIndex={0} aria-label={`${one.title} in ${title}`}>
                <code>{one.code.find((code) => code.language === language)?.text}</code>
              </pre>
              <p class="place">
                in qkv: <code>{one.file}</code>, <code>{one.symbol}</code>
              </p>
            </article>
          ))}
        </div>
      )}
    </section>
  );
}
