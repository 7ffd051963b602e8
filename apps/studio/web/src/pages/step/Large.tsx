import type { BenchMatrix, BenchReply } from "../../engine/messages";
import { Heatmap } from "../../parts/Heatmap";
import type { Bench } from "./bench";
import { briefly, kindOf, ownScale, scaleOf } from "./matrices";

interface LargeProps {
  bench: Bench;
  reply: BenchReply;
  matrix: BenchMatrix;
  room: number;
}

/** A matrix of the bench that has too many numbers for a table. */
export function Large({ bench, reply, matrix, room }: LargeProps) {
  return (
    <Heatmap
      {...matrix}
      says={briefly(matrix.meaning)}
      kind={kindOf(matrix.name)}
      firstRow={matrix.first_row}
      columnLabels={matrix.columns.length === reply.keys.length && matrix.hidden !== null}
      scale={scaleOf(reply, matrix) ?? ownScale(matrix)}
      room={room}
      onPin={bench.pin}
    />
  );
}
