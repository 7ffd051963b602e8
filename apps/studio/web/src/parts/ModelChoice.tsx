// Which model: one of the box, or any other by its path.

import { useSignal } from "@preact/signals";
import type { AboutReply } from "../engine/messages";
import { Settled } from "./Settled";

const another = "another…";

interface ModelChoiceProps {
  about: AboutReply;
  model: string;
  label: string;
  /** What stands for no model, if that is a choice. */
  none?: string;
  /** A path to write like. */
  hint: string;
  onChoose: (model: string) => void;
}

export function ModelChoice({ about, model, label, none, hint, onChoose }: ModelChoiceProps) {
  const known = (none !== undefined && model === "") || about.models.some((one) => one.name === model);
  const byPath = useSignal(!known);
  return (
    <>
      <label>
        <span>{label}</span>
        <select
          value={byPath.value ? another : model}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            byPath.value = chosen === another;
            if (!byPath.value) onChoose(chosen);
          }}
        >
          {none !== undefined && <option value="">{none}</option>}
          {about.models.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
          <option>{another}</option>
        </select>
      </label>
      {byPath.value && (
        <Settled label="Folder or file" class="model-path" value={known ? "" : model} hint={hint} onSettle={onChoose} />
      )}
    </>
  );
}
