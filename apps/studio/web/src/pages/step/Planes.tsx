import { useSignal } from "@preact/signals";
import type { BenchReply } from "../../engine/messages";
import { VectorPlane } from "../../parts/VectorPlane";
import type { Bench } from "./bench";
import { weightTotal } from "./matrices";
import { fitsPlane, keyPlane, valuePlane } from "./planes";

function mixtureWords(reply: BenchReply): string {
  const total = weightTotal(reply);
  if (total === 0) return "No key is seen: y is 0, wherever the values are.";
  if (total !== 1) return "y lies between 0 and the shaded shape: the sink takes a share, and gives nothing.";
  return "y stays inside the shaded shape: it is a mixture of values.";
}

/** The plane that belongs to the step; a reader can look at the other one. */
export function Planes({ bench, reply }: { bench: Bench; reply: BenchReply }) {
  const chosen = useSignal<{ values: boolean; at: string } | null>(null);
  if (!fitsPlane(reply)) return null;
  const position = bench.motion.position.value;
  const at = `${bench.stop.value.key} ${bench.backward.value}`;
  const belongs = !bench.backward.value && position > reply.steps.length - 1;
  const values = chosen.value?.at === at ? chosen.value.values : belongs;
  const tab = (isValues: boolean, label: string) => (
    <button type="button" aria-pressed={values === isValues} onClick={() => (chosen.value = { values: isValues, at })}>
      {label}
    </button>
  );
  return (
    <section class="card planes" aria-label="Vectors">
      <div class="segmented" role="group" aria-label="Which vectors">
        {tab(false, "query and keys")}
        {tab(true, "values, output")}
      </div>
      {values ? <VectorPlane {...valuePlane(bench, reply, position)} /> : <VectorPlane {...keyPlane(bench, reply)} />}
      <p class="hint">
        {values
          ? mixtureWords(reply)
          : "The more two arrows agree, the larger their dot product."}
        {bench.isLive && " Drag a tip."}
      </p>
    </section>
  );
}
