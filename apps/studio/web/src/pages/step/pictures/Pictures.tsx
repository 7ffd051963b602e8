// What a step is made of, as small pictures; folded until one is asked for.

import { useEffect, useMemo } from "preact/hooks";
import { address, change, withFields } from "../../../app/address";
import { byText } from "../../../app/by_text";
import { asked } from "../../../engine/asked";
import type { BenchReply, PicturesReply, PicturesRequest } from "../../../engine/messages";
import type { Bench } from "../bench";
import { asksItself, benchRequest } from "../state";
import { Asked } from "./Asked";
import { Dot } from "./Dot";
import { Mix } from "./Mix";
import { Product } from "./Product";
import { Split } from "./Split";
import "./pictures.css";

/** `steps`: the steps of the bench that it explains. */
export const all = [
  { id: "dot", title: "dot product and angle", steps: ["dots"] },
  { id: "product", title: "matrix product", steps: ["dots", "d_q"] },
  { id: "mix", title: "mixture of values", steps: ["sum", "softmax"] },
  { id: "heads", title: "split into heads", steps: ["query"] },
  { id: "asks", title: "self and cross", steps: ["query"] },
] as const;

/** Whether the pictures of a changed address will be answered; of what will not, nothing is offered. */
export type CanDraw = (changes: Record<string, string | null>) => boolean;

/** What the engine is asked for; null while all are folded. */
export function picturesRequest(fields: Readonly<Record<string, string>>): PicturesRequest | null {
  if (!all.some((one) => one.id === fields["pic"])) return null;
  const key = /^\d{1,9}$/.test(fields["pk"] ?? "") ? { key: Number(fields["pk"]) } : {};
  const other = asksItself(fields) && fields["other"] ? { other: fields["other"] } : {};
  const more = { ...(fields["mass"] ? { masses: fields["mass"] } : {}), ...other };
  const { wrong: _wrong, wrong_d: _d, nudge: _nudge, move: _move, d_out: _dOut, ...bench } = benchRequest(fields);
  return { ...bench, ...key, ...more };
}

export function Pictures({ bench, reply }: { bench: Bench; reply: BenchReply }) {
  const own = useMemo(() => asked(bench.engine, "pictures", byText(() => picturesRequest(address.value.fields))), [bench]);
  useEffect(() => own.stop, [own]);
  const { fields } = address.value;
  const can: CanDraw = (changes) => {
    const wanted = picturesRequest(withFields(fields, { pic: all[0].id, ...changes }));
    return wanted !== null && bench.engine.answers("pictures", wanted);
  };
  if (!can({ pk: null, mass: null, other: null })) return null;
  const chosen = fields["pic"] ?? "";
  const step = bench.stop.value.step?.id ?? "";
  const error = own.error.value;
  return (
    <section class="card pictures" aria-labelledby="pictures-title">
      <div class="wrong-row">
        <h2 id="pictures-title">Made of</h2>
        {all.map((one) => (
          <button
            key={one.id}
            type="button"
            class={`chip ${(one.steps as readonly string[]).includes(step) ? "belongs" : ""}`}
            aria-expanded={chosen === one.id}
            onClick={() => change({ pic: chosen === one.id ? null : one.id })}
          >
            {one.title}
          </button>
        ))}
      </div>
      {chosen !== "" && error && <p class="problem">{error.field ? `${error.field}: ${error.message}` : error.message}</p>}
      {chosen !== "" && own.reply.value && <Shown id={chosen} reply={reply} pictures={own.reply.value} can={can} />}
    </section>
  );
}

interface ShownProps {
  id: string;
  reply: BenchReply;
  pictures: PicturesReply;
  can: CanDraw;
}

function Shown({ id, reply, pictures, can }: ShownProps) {
  switch (id) {
    case "dot":
      return <Dot picture={pictures.dot} reply={reply} can={can} />;
    case "product":
      return pictures.product ? <Product picture={pictures.product} reply={reply} /> : <TooLarge>8 × 8 cells of 8 products</TooLarge>;
    case "mix":
      return pictures.mix && pictures.mix.shares.values.length === reply.keys.length ? <Mix picture={pictures.mix} reply={reply} can={can} /> : <TooLarge>12 keys that the query sees</TooLarge>;
    case "heads":
      return <Split picture={pictures.split} reply={reply} />;
    case "asks":
      return pictures.self && pictures.cross ? <Asked self={pictures.self} cross={pictures.cross} can={can} /> : <p class="hint">This picture is of your own numbers, over one text of at most 12 words.</p>;
    default:
      return null;
  }
}

function TooLarge({ children }: { children: string }) {
  return <p class="hint">This picture is drawn for at most {children}.</p>;
}
