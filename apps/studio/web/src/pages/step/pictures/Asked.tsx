import { useSignal } from "@preact/signals";
import { address, change } from "../../../app/address";
import { svgElements } from "../../../drawing/svg";
import { fields as described, type AskedPicture } from "../../../engine/messages";
import { askedDrawing } from "./asked";
import type { CanDraw } from "./Pictures";

/** The same keys and values, asked by the text itself and by another. */
export function Asked({ self, cross, can }: { self: AskedPicture; cross: AskedPicture; can: CanDraw }) {
  const usual = described.pictures?.find((field) => field.name === "other")?.fallback ?? "";
  const other = address.value.fields["other"] ?? usual;
  return (
    <div class="asked">
      <Side title="Self-attention" picture={self} />
      <Side title="Cross-attention" picture={cross}>
        <label class="other">
          another text{" "}
          <input value={other} readOnly={!can({ other: "another" })} onChange={(event) => change({ other: event.currentTarget.value === usual ? null : event.currentTarget.value })} />
        </label>
      </Side>
    </div>
  );
}

function Side({ title, picture, children }: { title: string; picture: AskedPicture; children?: preact.ComponentChildren }) {
  const row = useSignal<number | null>(null);
  const at = row.value !== null && row.value < picture.queries.length ? row.value : null;
  const drawing = askedDrawing(picture, at);
  return (
    <div class="asked-side">
      <h3>{title}</h3>
      <svg viewBox={`0 0 ${drawing.width} ${drawing.height}`} role="img" aria-label={drawing.title}>
        {svgElements(drawing.marks)}
      </svg>
      <div class="choose" role="group" aria-label={`${title}: whose weights`}>
        {picture.queries.map((word, n) => (
          <button key={n} type="button" class="chip" aria-pressed={at === n} onClick={() => (row.value = at === n ? null : n)}>
            {word}
          </button>
        ))}
      </div>
      {children}
      <p>{picture.sentence}</p>
    </div>
  );
}
