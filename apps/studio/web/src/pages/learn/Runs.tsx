// Which run is looked at, and how to start one.

import { useSignal } from "@preact/signals";
import { address, change } from "../../app/address";
import type { Engine } from "../../engine/engine";
import type { LearnReply } from "../../engine/messages";
import { AtWork, begin } from "./NewRun";
import { trainCommand } from "./state";
import { runOf, training } from "./training";

export function Runs({ engine, reply }: { engine: Engine; reply: LearnReply }) {
  const chosen = address.value.fields["run"] ?? "";
  return (
    <section class="card runs" aria-labelledby="runs-title">
      <div class="runs-row">
        <h2 id="runs-title">Run</h2>
        {reply.runs.map((run) => (
          <button key={run.directory} type="button" class="chip" aria-pressed={run.directory === chosen} onClick={() => change({ run: run.directory, step: null, head: null })}>
            {run.directory}
            <small>
              {run.task}, {run.done} of {run.steps}
            </small>
          </button>
        ))}
        <Directory chosen={chosen} />
      </div>
      <p>
        {reply.run?.at_work && !training.now.value && <strong class="at-work">at work </strong>}
        {reply.sentence}
        <GoOn engine={engine} reply={reply} />
      </p>
      <AtWork />
      {training.problem.value && (
        <p class="problem" role="alert">
          {training.problem.value}
        </p>
      )}
      {(!reply.run || reply.kept.length === 0) && <Command command={trainCommand(reply)} />}
    </section>
  );
}

/** A run that was stopped, where the engine would go on with it. */
function GoOn({ engine, reply: { run } }: { engine: Engine; reply: LearnReply }) {
  const isStopped = run && !run.at_work && run.done < run.steps && run.directory === runOf(run.task);
  if (!isStopped || training.now.value || !engine.answers("train", {})) return null;
  return (
    <button type="button" class="small" onClick={() => begin(engine, { task: run.task, resume: true })}>
      Go on
    </button>
  );
}

function Directory({ chosen }: { chosen: string }) {
  const typed = useSignal(chosen);
  return (
    <form
      class="directory"
      onSubmit={(event) => {
        event.preventDefault();
        change({ run: typed.value || null, step: null, head: null });
      }}
    >
      <input aria-label="Another directory of a run" placeholder="another directory" value={chosen} onInput={(event) => (typed.value = event.currentTarget.value)} />
      <button type="submit">Open</button>
    </form>
  );
}

function Command({ command }: { command: string }) {
  const copied = useSignal(false);
  const copy = () => void navigator.clipboard?.writeText(command).then(() => (copied.value = true));
  return (
    <p class="command">
      <code>qkv train</code> makes the folder of a run, and this page opens it. With a model kept every 100 steps, to watch heads
      form: <code>{command}</code>
      <button type="button" class="plain small" onClick={copy}>
        {copied.value ? "copied" : "copy"}
      </button>
    </p>
  );
}
