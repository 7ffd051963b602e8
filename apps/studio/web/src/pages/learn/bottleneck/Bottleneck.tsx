// One vector for a whole text, against attention over all of it: two small recurrent models at work.

import { computed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { address, change, type Fields } from "../../../app/address";
import { useKeys } from "../../../app/keys";
import type { PageProps, Takings } from "../../../app/page";
import { ground } from "../../../app/theme";
import { useTakings } from "../../../app/use_takings";
import { asked } from "../../../engine/asked";
import { fields as described, type BottleneckLengthsReply, type BottleneckReply } from "../../../engine/messages";
import { LineChart } from "../../../parts/LineChart";
import { Picture } from "../../../parts/Picture";
import { PlayerBar, usePlayer, type Player } from "../../../parts/Player";
import { attentionDrawing, saysAt, vectorDrawing, type Look } from "./drawings";
import "./bottleneck.css";

const stageTime = 240; // milliseconds a letter
const examples = ["cat", "thequickbrownfox", "alongsentencewillnotfit"];
const widest = 860;

/** The letters of what was typed: the models know no others. */
export function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z]/g, "");
}

function usualText(): string {
  return described.bottleneck?.find((field) => field.name === "text")?.fallback ?? "";
}

export function textOf(fields: Fields): string {
  return lettersOf(fields["text"] ?? "") || usualText();
}

export function BottleneckPage({ engine, takings }: PageProps) {
  const [own, lengths] = useMemo(() => {
    const text = computed(() => textOf(address.value.fields));
    return [
      asked(engine, "bottleneck", computed(() => (text.value === usualText() ? {} : { text: text.value }))),
      asked(engine, "bottleneck_lengths", computed(() => ({}))),
    ] as const;
  }, [engine]);
  useEffect(
    () => () => {
      own.stop();
      lengths.stop();
    },
    [own, lengths],
  );
  const reply = own.reply.value;
  const error = own.error.value ?? own.gone.value;
  return (
    <div class="bottleneck">
      <Asking reply={reply} />
      {error && (
        <p class="problem banner" role="alert">
          {error.message}
        </p>
      )}
      {reply && <Shown key={reply.letters.length} reply={reply} lengths={lengths.reply.value} takings={takings} />}
    </div>
  );
}

function Asking({ reply }: { reply: BottleneckReply | null }) {
  const text = textOf(address.value.fields);
  const set = (next: string) => change({ text: next === usualText() ? null : next });
  return (
    <section class="card bottleneck-asking">
      <p>
        Before attention, a network read a text letter by letter into <b class="k">one vector</b> of fixed size, and
        another wrote it out again. Attention lets the writer look back at <b class="q">every state</b>.
      </p>
      <div class="choose" role="group" aria-label="Texts">
        <label class="other">
          letters to repeat{" "}
          <input value={text} maxLength={reply?.most ?? 40} spellcheck={false} autocomplete="off" onChange={(event) => set(lettersOf(event.currentTarget.value))} />
        </label>
        {examples.map((one) => (
          <button key={one} type="button" class="chip" aria-pressed={one === text} onClick={() => set(one)}>
            {one}
          </button>
        ))}
      </div>
    </section>
  );
}

interface ShownProps {
  reply: BottleneckReply;
  lengths: BottleneckLengthsReply | null;
  takings: Signal<Takings | null>;
}

function Shown({ reply, lengths, takings }: ShownProps) {
  const last = 2 * reply.letters.length;
  const player = usePlayer(last, last, stageTime);
  const look = (width: number): Look => ({ reply, at: player.at.value, width, ground: ground.value });
  const taken = (): Takings => ({
    name: "bottleneck",
    command: "qkv bench bottleneck",
    drawing: () => vectorDrawing({ reply, at: player.at.value, width: 720, ground: ground.value }),
    table: { name: "answers", csv: () => csvOf(reply) },
  });
  useTakings(takings, taken, [reply]);
  usePlayKeys(player);
  return (
    <>
      <section class="card" aria-label="Reading and writing">
        <PlayerBar player={player} label="Reading and writing" says={(at) => saysAt(reply, at)} />
      </section>
      <div class="bottleneck-desk">
        <div class="bottleneck-pair">
          <section class="card" aria-labelledby="vector-title">
            <h2 id="vector-title">
              Through one vector <small>{reply.vector.rights} of {reply.letters.length} letters come back</small>
            </h2>
            <Picture draw={(width) => vectorDrawing(look(width))} most={widest} />
            <p>{reply.crowding}</p>
          </section>
          <section class="card" aria-labelledby="attention-title">
            <h2 id="attention-title">
              With attention <small>{reply.attention.rights} of {reply.letters.length} letters come back</small>
            </h2>
            <Picture draw={(width) => attentionDrawing(look(width))} most={widest} />
          </section>
        </div>
        <Lengths lengths={lengths} count={reply.letters.length} reply={reply} />
      </div>
    </>
  );
}

function Lengths({ lengths, count, reply }: { lengths: BottleneckLengthsReply | null; count: number; reply: BottleneckReply }) {
  const at = useSignal(count - 1);
  return (
    <section class="card bottleneck-lengths" aria-labelledby="lengths-title">
      <h2 id="lengths-title">Letters that come back</h2>
      {!lengths && <p class="hint">Both models repeat random texts …</p>}
      {lengths && (
        <>
          <LineChart
            chart={{
              title: "Share of letters that come back",
              x: { name: "letters of the text", least: 0 },
              y: { name: "right", least: 0, most: 1, written: percent },
              lines: [
                { name: "attention", x: lengths.lengths, y: numbers(lengths.attention.values), paint: "q" },
                { name: "one vector", x: lengths.lengths, y: numbers(lengths.vector.values), paint: "k" },
                { name: "a guess", x: lengths.lengths, y: lengths.lengths.map(() => lengths.chance), paint: "soft", dashed: true },
              ],
            }}
            height={250}
            at={Math.min(at.value, lengths.lengths.length - 1)}
            onAt={(to) => (at.value = to)}
            writeX={(value) => `${value} letters`}
            writeY={(value) => `${(100 * value).toFixed(1)} %`}
          />
          <p>{lengths.sentence}</p>
        </>
      )}
      <p class="hint">
        The two models are of one size: {reply.vector.parameters.toLocaleString("en")} and{" "}
        {reply.attention.parameters.toLocaleString("en")} parameters. In training, texts had at most {reply.longest} letters.
      </p>
    </section>
  );
}

function percent(value: number): string {
  return `${Math.round(100 * value)} %`;
}

function numbers(values: ArrayLike<number | bigint>): number[] {
  return Array.from({ length: values.length }, (_, n) => Number(values[n]));
}

function usePlayKeys(player: Player): void {
  useLayoutEffect(() => {
    const by = (step: number) => () => {
      player.playing.value = false;
      player.at.value = Math.min(Math.max(Math.round(player.at.value) + step, 0), player.last);
    };
    return useKeys([
      { keys: ["ArrowRight", "n"], shown: "→ n", does: "the next letter", run: by(1), yields: true },
      { keys: ["ArrowLeft", "p"], shown: "← p", does: "the letter before", run: by(-1), yields: true },
    ]);
  }, [player.at, player.last]);
}

function csvOf(reply: BottleneckReply): string {
  const rows = reply.letters.map((letter, t) => [letter, reply.vector.letters[t], reply.attention.letters[t]].join(","));
  return ["read,one_vector,attention", ...rows].join("\n") + "\n";
}
