import { address, change, type Change } from "../../../app/address";
import { shown } from "../../../drawing/numbers";
import { svgElements } from "../../../drawing/svg";
import type { BenchReply, MixPicture } from "../../../engine/messages";
import { valueAt } from "../../../engine/tensor";
import { Formula } from "../../../parts/Formula";
import { Slider } from "../../../parts/Slider";
import { matrixOf } from "../matrices";
import { subscripted } from "../planes";
import { mixDrawing } from "./mix";
import type { CanDraw } from "./Pictures";

/** The values mixed by masses that the reader moves; at first those of the softmax. */
export function Mix({ picture, reply, can }: { picture: MixPicture; reply: BenchReply; can: CanDraw }) {
  const v = matrixOf(reply, "v")?.values;
  if (!v) return null;
  const moved = address.value.fields["mass"];
  const own = moved === undefined;
  // A slider stands where it was moved to, also while the reply is on its way.
  const masses = own ? Array.from(picture.masses.values, Number) : moved.split(",").map(Number);
  const set = (key: number) => (to: number, how: Change) => {
    const next = masses.map((mass, at) => (at === key ? to : Number(mass.toFixed(3))));
    if (next.some((mass) => mass > 0)) change({ mass: next.join(",") }, how);
  };
  const isOpen = can({ mass: masses.map(() => "0.123").join(",") });
  const drawing = reply.d_v === 2 ? mixDrawing(picture, v) : null;
  return (
    <div class="picture-row">
      {drawing && (
        <svg class="picture-plane" viewBox={`0 0 ${drawing.width} ${drawing.height}`} role="img" aria-label={drawing.title}>
          {svgElements(drawing.marks)}
        </svg>
      )}
      <div class="picture-says">
        <div class="masses">
          {reply.keys.map((word, key) => (
            <Slider
              key={key}
              label={`${subscripted("v", key)} ${word}`}
              shown={`${shown(100 * valueAt(picture.shares, 0, key), 1)} %`}
              at={masses[key] ?? 0}
              fixed={!isOpen}
              least={0}
              most={1}
              step={0.01}
              onMove={set(key)}
            />
          ))}
        </div>
        {isOpen && (
          <button type="button" class="plain small" disabled={own} onClick={() => change({ mass: null })}>
            {own ? "these are the weights of the softmax" : "back to the weights of the softmax"}
          </button>
        )}
        <Formula formula={picture.formula} />
        <p>{picture.sentence}</p>
      </div>
    </div>
  );
}
