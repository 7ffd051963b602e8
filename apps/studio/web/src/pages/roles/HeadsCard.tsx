// All heads of the model over many texts: a table to sort and choose from, and a picture of its layers.

import { useSignal } from "@preact/signals";
import { address } from "../../app/address";
import { ground } from "../../app/theme";
import { svgElements } from "../../drawing/svg";
import { HeadsTable } from "./HeadsTable";
import type { Desk } from "./desk";
import { Alike } from "./Alike";
import { TaskPatterns } from "./TaskPatterns";
import { layerPicture } from "./layer_marks";
import { atTheText } from "./state";

export function HeadsCard({ desk }: { desk: Desk }) {
  const { roles } = desk;
  const reply = roles.reply.value;
  const isStale =
    !roles.isCurrent.value && (roles.isWorking.value || roles.isStopped.value || roles.error.value !== null);
  return (
    <section class="card roles-all" aria-labelledby="roles-title" aria-busy={roles.isWorking.value}>
      <h2 id="roles-title">What does each head do?</h2>
      <p class="roles-lead">
        A head is one way of reading: which tokens look at which.{" "}
        {reply && `Measured over ${reply.texts}, ${reply.tokens.toLocaleString("en")} tokens.`}
      </p>
      <Working desk={desk} />
      {roles.error.value && !address.value.fields["texts"] && !atTheText.includes(roles.error.value.field) && (
        <p class="problem banner" role="alert">
          {roles.error.value.message}
        </p>
      )}
      {reply && (
        <div class={`roles-all-parts ${isStale ? "waiting" : ""}`}>
          <div>
            <HeadsTable desk={desk} reply={reply} />
            <TaskPatterns desk={desk} patterns={reply.task_patterns} />
          </div>
          <div>
            <Layers desk={desk} />
            <Alike desk={desk} reply={reply} />
          </div>
        </div>
      )}
      <Texts desk={desk} />
    </section>
  );
}

function Working({ desk }: { desk: Desk }) {
  const { roles } = desk;
  if (roles.isStopped.value) {
    return (
      <p class="roles-working" role="status">
        Stopped.
        <button type="button" onClick={roles.goOn}>
          Go on
        </button>
      </p>
    );
  }
  if (!roles.isWorking.value) return null;
  return (
    <p class="roles-working" role="status">
      <progress aria-label="Reading texts" />
      <span>{roles.progress.value ? `Reading: ${roles.progress.value.what}` : "Reading texts …"}</span>
      <button type="button" onClick={roles.halt}>
        Stop
      </button>
    </p>
  );
}

const pictureWidth = 290;

function Layers({ desk }: { desk: Desk }) {
  const heads = desk.roles.reply.value?.heads ?? [];
  const picture = layerPicture(heads, desk.chosen.value, pictureWidth, ground.value);
  const choose = (event: MouseEvent) => {
    const name = event.target instanceof Element ? event.target.getAttribute("data-name") : null;
    const cell = picture.cells.find(({ head }) => name === `role-${head.site}.${head.layer}.${head.head}`);
    if (cell) desk.choose(cell.head);
  };
  return (
    <figure class="roles-layers">
      <figcaption>Layer by layer</figcaption>
      <svg
        viewBox={`-3 -3 ${picture.width + 6} ${picture.height + 6}`}
        width={picture.width + 6}
        role="img"
        aria-label={picture.title}
        onClick={choose}
      >
        {svgElements(picture.marks)}
      </svg>
    </figure>
  );
}

function Texts({ desk }: { desk: Desk }) {
  const given = address.value.fields["texts"] ?? "";
  const open = useSignal(given !== "");
  const own = given !== "" ? desk.roles.error.value : null;
  return (
    <details
      class="roles-texts"
      open={open.value || own !== null}
      onToggle={(event) => (open.value = event.currentTarget.open)}
    >
      <summary>Measure over texts of your own</summary>
      <label>
        <span>One text a line</span>
        <textarea
          rows={3}
          value={given}
          spellcheck={false}
          aria-invalid={own !== null}
          onChange={(event) => desk.apply({ texts: event.currentTarget.value.trim() || null })}
        />
      </label>
      {own && (
        <em class="problem" role="alert">
          {own.message}
        </em>
      )}
      {given && (
        <button type="button" class="plain small" onClick={() => desk.apply({ texts: null })}>
          Back to the model’s own texts
        </button>
      )}
    </details>
  );
}
