// A task is chosen, and a model learns it here.

import { useSignal } from "@preact/signals";
import { address, change } from "../../app/address";
import type { Engine } from "../../engine/engine";
import type { LearnReply, TrainRequest } from "../../engine/messages";
import { newRun, runOf, training } from "./training";

const usual = "induction";

export function NewRun({ engine, reply }: { engine: Engine; reply: LearnReply }) {
  const begun = new Set(reply.runs.map((run) => run.directory));
  const open = reply.tasks.filter(({ name }) => !begun.has(runOf(name)));
  const chosen = useSignal(usual);
  const task = open.find(({ name }) => name === chosen.value) ?? open[0];
  if (!task || training.now.value) return null;
  return (
    <form
      class="card new-run"
      onSubmit={(event) => {
        event.preventDefault();
        begin(engine, newRun(task));
      }}
    >
      {reply.runs.length === 0 && !reply.run && <Welcome engine={engine} />}
      <label>
        <span>A small model learns</span>
        <select value={task.name} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {open.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <button type="submit" class="main">
        Train it here
      </button>
      <p class="note">{task.description}</p>
    </form>
  );
}

const learnt = { model: "induction", text: "abcxyzab" };

/** Where there is no run yet: what will be seen here. */
function Welcome({ engine }: { engine: Engine }) {
  return (
    <div class="welcome">
      <h2>Watch attention heads form</h2>
      <p>
        Press <b>Train it here</b>: a small model learns the task, its loss falls and its accuracy rises as you watch, and a
        strip of pictures shows one head turn from noise into a pattern.
        {engine.answers("heads", learnt) && (
          <>
            {" "}
            Or see <a href={`#/heads?model=${learnt.model}&text=${learnt.text}`}>the heads of a model that has learnt {learnt.model}</a>.
          </>
        )}
      </p>
    </div>
  );
}

export function begin(engine: Engine, request: TrainRequest): void {
  void training.start(engine, request, (run) => address.value.page === "learn" && change({ run, step: null, head: null }));
}

/** How far the run is that this page began. */
export function AtWork() {
  const now = training.now.value;
  if (!now) return null;
  const share = now.steps > 0 ? now.done / now.steps : 0;
  return (
    <p class="at-work-line" role="status">
      <strong class="at-work">at work</strong>
      <span>
        {now.task}: {now.steps > 0 ? `step ${now.done} of ${now.steps}` : "begins"}
      </span>
      <progress max={1} value={share} aria-label="The run" />
      <button type="button" class="small" onClick={training.stop}>
        Stop
      </button>
    </p>
  );
}
