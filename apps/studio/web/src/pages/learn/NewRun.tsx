// A task is chosen, and a model learns it here.

import { useSignal } from "@preact/signals";
import { address, change } from "../../app/address";
import type { Engine } from "../../engine/engine";
import type { LearnReply } from "../../engine/messages";
import { runOf, training } from "./training";

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
        begin(engine, task.name);
      }}
    >
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

export function begin(engine: Engine, task: string): void {
  void training.start(engine, task, (run) => address.value.page === "learn" && change({ run, step: null, head: null }));
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
