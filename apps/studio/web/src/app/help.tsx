import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { allKeys } from "./keys";

export function Help({ open }: { open: Signal<boolean> }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const shown = open.value;
  useEffect(() => {
    if (shown && !dialog.current?.open) dialog.current?.showModal();
    if (!shown && dialog.current?.open) dialog.current.close();
  }, [shown]);
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => (open.value = false)}
      onKeyDown={(event) => {
        if (event.key === "?") open.value = false;
      }}
    >
      <h2 id="help-title">Keys</h2>
      <dl>
        {allKeys.value.map((key) => (
          <div key={key.shown + key.does}>
            <dt>
              <kbd>{key.shown}</kbd>
            </dt>
            <dd>{key.does}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>Enter</kbd>
          </dt>
          <dd>in a matrix: change or pin the number; Esc lets go</dd>
        </div>
      </dl>
      <p>
        Every number can be pointed at: solid rings show what it is made of, dotted rings what is made from it. A click pins
        it. Numbers with a line below them can be changed: type, drag sideways, or ↑ ↓ (0.1; Shift 1, Alt 0.01). Back undoes.
      </p>
      <button type="button" class="plain" onClick={() => (open.value = false)}>
        Close
      </button>
    </dialog>
  );
}
