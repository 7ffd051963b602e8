import { change } from "../../../app/address";
import { svgElements } from "../../../drawing/svg";
import { shown } from "../../../drawing/numbers";
import type { BenchReply, DotPicture } from "../../../engine/messages";
import { valueAt } from "../../../engine/tensor";
import { Formula } from "../../../parts/Formula";
import { dotDrawing } from "./dot";
import type { CanDraw } from "./Pictures";

const mostColumns = 8;

/** The same number twice: products added up, and lengths times the cosine of the angle. */
export function Dot({ picture, reply, can }: { picture: DotPicture; reply: BenchReply; can: CanDraw }) {
  const drawing = dotDrawing(picture);
  const keys = reply.keys.map((word, key) => ({ word, key })).filter(({ key }) => key === picture.key || can({ pk: String(key) }));
  return (
    <div class="picture-row">
      <svg class="picture-plane" viewBox={`0 0 ${drawing.width} ${drawing.height}`} role="img" aria-label={drawing.title}>
        {svgElements(drawing.marks)}
      </svg>
      <div class="picture-says">
        <div class="choose" role="group" aria-label="Which key">
          <span>
            <b class="q">q</b> of {picture.query_name}, <b class="k">k</b> of
          </span>
          {keys.length <= 12 ? (
            keys.map(({ word, key }) => (
              <button key={key} type="button" class="chip" aria-pressed={key === picture.key} onClick={() => change({ pk: String(key) })}>
                {word}
              </button>
            ))
          ) : (
            <select aria-label="Key" value={picture.key} onChange={(event) => change({ pk: event.currentTarget.value })}>
              {keys.map(({ word, key }) => (
                <option key={key} value={key}>
                  {key} {word}
                </option>
              ))}
            </select>
          )}
        </div>
        {picture.q.values.length <= mostColumns && <Products picture={picture} />}
        <Formula formula={picture.by_numbers} />
        {picture.by_angle.text && <Formula formula={picture.by_angle} />}
        <p>{picture.sentence}</p>
        {picture.q.values.length !== 2 && picture.degrees !== null && (
          <p class="hint">Drawn in the plane that both vectors lie in.</p>
        )}
      </div>
    </div>
  );
}

function Products({ picture }: { picture: DotPicture }) {
  const row = (title: string, values: DotPicture["q"], kind = "") => (
    <tr>
      <th scope="row" class={kind}>
        {title}
      </th>
      {Array.from({ length: values.values.length }, (_, column) => (
        <td key={column}>{shown(valueAt(values, 0, column), decimalsOf(values.values))}</td>
      ))}
    </tr>
  );
  return (
    <div class="scrolls">
      <table class="products">
        <tbody>
          {row("q", picture.q, "q")}
          {row("k", picture.k, "k")}
          {row("product", picture.products)}
          {row("sum so far", picture.sums)}
        </tbody>
      </table>
    </div>
  );
}

/** 0 where all are whole. */
export function decimalsOf(values: ArrayLike<number | bigint>): number {
  return Array.from(values, Number).every(Number.isInteger) ? 0 : 3;
}
