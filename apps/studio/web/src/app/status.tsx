// Who computed what is seen, and how fast.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Engine, Reply } from "../engine/engine";
import { lastReply } from "./last_reply";

export function StatusLine({ engine }: { engine: Engine }) {
  const about = useSignal<Reply<"about"> | null>(null);
  useEffect(() => {
    engine.ask("about", {}).then(
      (reply) => (about.value = reply),
      () => undefined, // the page itself says what is wrong
    );
  }, [engine]);
  const took = lastReply.value;
  return (
    <footer class="status">
      <span>
        {engine.transport.where}
        {about.value && ` ${about.value.version}`}
      </span>
      {took !== null && <span>last reply in {took < 10 ? took.toFixed(1) : Math.round(took)} ms</span>}
      <span>
        Press <kbd>?</kbd> for keys
      </span>
    </footer>
  );
}
