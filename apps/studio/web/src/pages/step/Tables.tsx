// Every matrix from the dot products to the output, in the order in which they are made; gradients stand below.

import type { BenchMatrix, BenchReply } from "../../engine/messages";
import { MatrixTable } from "../../parts/MatrixTable";
import { Prose } from "../../parts/Prose";
import { address } from "../../app/address";
import { narrow } from "../../app/theme";
import type { Bench } from "./bench";
import { Gradient } from "./Inputs";
import { Large } from "./Large";
import { briefly, isSmall, matrixOf, scaleOf } from "./matrices";
import { movedOutput } from "./state";
import { outerStop, partsOf } from "./stops";

const always = ["raw", "scaled", "softcapped", "biased", "masked", "weights", "out", "concat", "w_o", "output"];
const mostKept = 4; // keys
const inParts: readonly string[] = ["max", "exp", "sum"];

/** Where on the rail a matrix is made. */
function madeAt(reply: BenchReply, name: string): number {
  for (const [n, step] of reply.steps.entries()) {
    const parts = partsOf(step);
    const part = parts.findIndex((inner) => inner.made.includes(name));
    if (part >= 0) return n + (part + 1) / parts.length;
    if (step.made.includes(name)) return n + 1;
  }
  return 0;
}

export function Tables({ bench, reply }: { bench: Bench; reply: BenchReply }) {
  const position = bench.motion.position.value;
  const { stop, stops, backward } = bench;
  const whole = stop.value.inner && !backward.value ? outerStop(stops.value, stop.value).step : null;
  const shown = reply.matrices.filter(
    ({ name }) => always.includes(name) || (inParts.includes(name) && whole?.made.includes(name)),
  );
  const isMade = ({ name }: BenchMatrix) => backward.value || position >= madeAt(reply, name) - 0.5;
  // Small tables keep their place before they are filled; large ones would be screens of nothing.
  const keepsPlace = reply.keys.length <= mostKept && !narrow.value;
  const toCome = keepsPlace ? [] : shown.filter((matrix) => !isMade(matrix));
  return (
    <section class={`card tables ${keepsPlace ? "" : "many"}`} aria-label="All numbers on the way">
      {shown.map((matrix) => {
        if (toCome.includes(matrix)) return null;
        const isNow = !backward.value && (stop.value.step?.made.includes(matrix.name) ?? false);
        return (
          <div key={matrix.name} class={`step-table ${isMade(matrix) ? "" : "to-come"} ${isNow ? "now" : ""}`}>
            {isSmall(matrix) ? (
              <Forward bench={bench} reply={reply} matrix={matrix} />
            ) : (
              <Large bench={bench} reply={reply} matrix={matrix} room={390} />
            )}
            {backward.value && <Gradient bench={bench} reply={reply} of={matrix.name} labels />}
            {backward.value && matrix.name === lastScores(reply) && (
              <Gradient bench={bench} reply={reply} of="scores" labels />
            )}
          </div>
        );
      })}
      {toCome.length > 0 && <ToCome bench={bench} reply={reply} matrices={toCome} />}
    </section>
  );
}

/** What later steps make: a press goes there. */
function ToCome({ bench, reply, matrices }: { bench: Bench; reply: BenchReply; matrices: readonly BenchMatrix[] }) {
  const go = (name: string) => {
    const at = Math.ceil(madeAt(reply, name));
    const stop = bench.stops.value.find((one) => !one.inner && one.at === at);
    if (stop) bench.go(stop);
  };
  return (
    <div class="still-to-come">
      <h2>Still to come</h2>
      {matrices.map(({ name, title, meaning }) => (
        <button key={name} type="button" class="chip" onClick={() => go(name)}>
          <b>
            <Prose text={title} />
          </b>{" "}
          {briefly(meaning)}
        </button>
      ))}
    </div>
  );
}

function lastScores(reply: BenchReply): string {
  return ["masked", "biased", "softcapped", "scaled"].find((name) => matrixOf(reply, name)) ?? "scaled";
}

function Forward({ bench, reply, matrix }: { bench: Bench; reply: BenchReply; matrix: BenchMatrix }) {
  const old = bench.before.value;
  const pairs = matrix.columns.length === reply.keys.length && matrix.name !== "out";
  const asks = bench.backward.value && matrix.name === "out";
  const moved = asks && address.value.fields["dY"] === undefined ? movedOutput(address.value.fields) : null;
  return (
    <div
      onClick={(event) => {
        const at = event.target instanceof Element ? event.target.closest("[data-at]")?.getAttribute("data-at") : null;
        const changes = { back: at ?? null, dY: null };
        if (asks && at && bench.can(changes)) bench.apply(changes);
      }}
      class={asks ? "asks" : ""}
    >
      <MatrixTable
        {...matrix}
        says={briefly(matrix.meaning)}
        firstRow={matrix.first_row}
        columnLabels={pairs}
        scale={scaleOf(reply, matrix)}
        currentRow={matrix.name === "w_o" ? null : reply.query - matrix.first_row}
        before={old ? matrixOf(old, matrix.name) : null}
        marked={moved ? { at: moved.split(",").map(Number) as [number, number], as: "asked" } : null}
      />
    </div>
  );
}
