import { address, change } from "../../../app/address";
import { ground } from "../../../app/theme";
import { shown } from "../../../drawing/numbers";
import { svgElements } from "../../../drawing/svg";
import type { BenchReply, ProductPicture } from "../../../engine/messages";
import { valueAt, type Tensor } from "../../../engine/tensor";
import { matrixOf } from "../matrices";
import { decimalsOf } from "./Dot";
import { PlayerBar, usePlayer } from "../../../parts/Player";
import { productDrawing, sumAt } from "./product";

/** Row times column gives a cell; all cells at once, one product after the other. */
export function Product({ picture, reply }: { picture: ProductPicture; reply: BenchReply }) {
  const width = picture.sums.shape[2] ?? 1;
  const player = usePlayer(width, width);
  const q = matrixOf(reply, "q")?.values;
  const k = matrixOf(reply, "k")?.values;
  if (!q || !k) return null;
  const cell = cellOf(address.value.fields["cell"], picture, reply.query);
  const decimals = Math.max(decimalsOf(picture.products.values), decimalsOf(q.values), decimalsOf(k.values)) === 0 ? 0 : 2;
  const drawing = productDrawing({ picture, q, k, at: player.at.value, cell, decimals, ground: ground.value });
  const pick = (event: PointerEvent) => {
    const frame = (event.currentTarget as SVGElement).getBoundingClientRect();
    const scale = drawing.width / frame.width;
    const found = drawing.cellAt((event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale);
    if (found) change({ cell: found.join(",") }, "quiet");
  };
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const row = Math.min(Math.max(cell[0] + step[0], 0), picture.queries.length - 1);
    const column = Math.min(Math.max(cell[1] + step[1], 0), picture.keys.length - 1);
    change({ cell: `${row},${column}` }, "quiet");
  };
  const count = Math.floor(player.at.value + 1e-9);
  const said = `${picture.queries[cell[0]]} · ${picture.keys[cell[1]]}: ${shown(sumAt(picture, cell[0], cell[1], count), decimals === 0 ? 0 : 3)}`;
  return (
    <div class="picture-row">
      <svg
        class="picture-product"
        viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        width={drawing.width}
        height={drawing.height}
        role="application"
        aria-roledescription="matrix product"
        aria-label={`${drawing.title}. Cell ${said}. Arrow keys choose another.`}
        tabindex={0}
        data-own-arrows
        onPointerMove={pick}
        onPointerDown={pick}
        onKeyDown={move}
      >
        {svgElements(drawing.marks)}
      </svg>
      <div class="picture-says">
        <PlayerBar player={player} label="Products added" says={(at) => `${Math.floor(at + 1e-9)} of ${width}`} />
        <p class="cell-sum" aria-live="polite">
          <b class="q">{picture.queries[cell[0]]}</b> · <b class="k">{picture.keys[cell[1]]}</b> = <Terms q={q} k={k} cell={cell} count={count} decimals={decimals} />
          <strong>{shown(sumAt(picture, cell[0], cell[1], count), decimals === 0 ? 0 : 3)}</strong>
        </p>
        <p>{picture.sentence}</p>
        <p class="hint">Point at a cell: its row of Q and its column of Kᵀ light up.</p>
      </div>
    </div>
  );
}

function Terms({ q, k, cell, count, decimals }: { q: Tensor; k: Tensor; cell: readonly [number, number]; count: number; decimals: number }) {
  if (count === 0) return <>nothing yet: </>;
  const factor = (value: number) => (value < 0 ? `(${shown(value, decimals)})` : shown(value, decimals));
  const terms = Array.from({ length: count }, (_, c) => `${factor(valueAt(q, cell[0], c))} · ${factor(valueAt(k, cell[1], c))}`);
  return <>{terms.join(" + ")} = </>;
}

/** "1,2" of the address, or the chosen query's first cell. */
export function cellOf(text: string | undefined, picture: ProductPicture, query: number): [number, number] {
  const [row, column] = /^\d+,\d+$/.test(text ?? "") ? text!.split(",").map(Number) : [query, 0];
  const fits = row! < picture.queries.length && column! < picture.keys.length;
  return fits ? [row!, column!] : [Math.min(query, picture.queries.length - 1), 0];
}
