import { address } from "../../app/address";
import type { BenchMatrix, BenchReply } from "../../engine/messages";
import type { Tensor } from "../../engine/tensor";
import { NamedHeatmap } from "../../parts/NamedHeatmap";
import { nextShade, shadeOf, shadings } from "../../parts/shade";
import type { Bench } from "./bench";
import { briefly, kindOf, ownScale, scaleOf } from "./matrices";

interface LargeProps {
  bench: Bench;
  reply: BenchReply;
  matrix: BenchMatrix;
  room: number;
  strips?: boolean;
}

const stripTall = 16; // pixels

/** A matrix of the bench that has too many numbers for a table. */
export function Large({ bench, reply, matrix, room, strips = false }: LargeProps) {
  const asksBack = bench.backward.value && matrix.name === "out";
  const shade = shadeOf(address.value.fields);
  const shading = matrix.name === "weights" ? shadings[shade] : null;
  const isTimes = shading !== null && shade === "uniform";
  return (
    <NamedHeatmap
      {...matrix}
      values={isTimes ? (reply.times_uniform as Tensor) : matrix.values}
      decimals={isTimes ? 1 : matrix.decimals}
      says={briefly(matrix.meaning)}
      kind={kindOf(matrix.name)}
      firstRow={matrix.first_row}
      columnLabels={matrix.columns.length === reply.keys.length && matrix.hidden !== null}
      scale={shading?.scale ?? scaleOf(reply, matrix) ?? ownScale(matrix)}
      shading={shading}
      onScale={() => bench.apply(nextShade(shade), "quiet")}
      room={room}
      rowTall={strips ? stripTall : undefined}
      onPin={(name) => {
        const changes = { back: name.slice("out:".length), dY: null };
        if (!asksBack) bench.pin(name);
        else if (bench.can(changes)) bench.apply(changes);
      }}
    />
  );
}
