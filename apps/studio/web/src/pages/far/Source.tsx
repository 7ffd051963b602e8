// Whose matrix: of a model over a long text, of the probe that is shown, or of numbers that are made up; and which of its heads.

import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { address } from "../../app/address";
import { grouped } from "../../drawing/amounts";
import type { AboutReply } from "../../engine/messages";
import { HeadPicker } from "../../parts/HeadPicker";
import { ModelChoice } from "../../parts/ModelChoice";
import { Settled } from "../../parts/Settled";
import { Slider } from "../../parts/Slider";
import { headName } from "../heads/state";
import { fileName, maskOf, modelChanges, modelOf, ofMatrix, ofText, textOf, tokensOf, tokenSteps } from "./state";
import type { Desk } from "./desk";

export function Source({ desk, about }: { desk: Desk; about: AboutReply }) {
  const { fields } = address.value;
  const model = modelOf(fields, about);
  const error = desk.open.error.value;
  return (
    <form class="far-source" onSubmit={(event) => event.preventDefault()}>
      <div class="source-fields">
        <ModelChoice
          about={about}
          model={model}
          label="Matrix of"
          none={about.probe || "numbers that are made up"}
          hint="/path/to/gpt2"
          onChoose={(chosen) => desk.apply(modelChanges(chosen))}
        />
        {model === "" ? about.probe === "" && <MadeUp desk={desk} about={about} /> : <Read desk={desk} about={about} model={model} />}
      </div>
      {error && <p class="problem">{error.message}</p>}
    </form>
  );
}

function MadeUp({ desk, about }: { desk: Desk; about: AboutReply }) {
  const { fields } = address.value;
  const tokens = tokensOf(fields, desk.usual);
  const dragged = useSignal<number | null>(null);
  const at = dragged.value ?? Math.max(0, tokenSteps.findIndex((one) => one >= tokens));
  return (
    <>
      <Slider
        label="tokens"
        shown={grouped(dragged.value === null ? tokens : tokenSteps[at]!)}
        at={at}
        least={0}
        most={tokenSteps.length - 1}
        onMove={(to, how) => {
          dragged.value = how === "drag" ? to : null;
          if (how === "done") desk.apply({ ...ofMatrix, tokens: String(tokenSteps[to]!) });
        }}
      />
      <Settled
        mayBeEmpty
        label="mask"
        value={maskOf(fields, about)}
        hint="none: all see all"
        isWrong={desk.open.error.value?.field === "mask"}
        onSettle={(text) => desk.apply({ ...ofMatrix, mask: text === "" ? "none" : text })}
      />
    </>
  );
}

const longestInField = 400; // characters; more is not edited here

function Read({ desk, about, model }: { desk: Desk; about: AboutReply; model: string }) {
  const picker = useRef<HTMLInputElement>(null);
  const { fields } = address.value;
  const text = textOf(fields, about, model, desk.file.value);
  const name = (fields["file"] && fileName(fields["file"])) ?? (fields["text"] === undefined && about.file !== "" ? about.file.replace(/^.*\//s, "") : null);
  const open = async (chosen: File | undefined) => {
    if (chosen) desk.openFile({ name: chosen.name, text: (await chosen.text()).replace(/\r?\n$/, "") });
  };
  return (
    <>
      {name !== null ? (
        <span class="read-file">
          <span>reads</span> <b>{name}</b>
        </span>
      ) : (
        text !== null && text.length <= longestInField && (
          <Settled label="reads" class="wide" value={text} isWrong={desk.open.error.value?.field === "text"} onSettle={(typed) => desk.apply({ ...ofText, file: null, text: typed })} />
        )
      )}
      {text === null && <span class="problem">This address is about the file {name}, as it was: open it here.</span>}
      <button type="button" onClick={() => picker.current?.click()}>
        Open a text …
      </button>
      <input
        ref={picker}
        class="said"
        type="file"
        tabIndex={-1}
        aria-label="A text file for the model to read"
        accept="text/*,.txt,.md"
        onChange={(event) => void open(event.currentTarget.files?.[0])}
      />
    </>
  );
}

const siteNames: Readonly<Record<string, string>> = { tokens: "Tokens", source: "Source", cross: "Cross" };

/** Which of the model's heads: none to choose from where numbers are made up. */
export function HeadsCard({ desk }: { desk: Desk }) {
  const reply = desk.opened.value?.reply;
  if (!reply || reply.site === "" || reply.layers * reply.heads * reply.sites.length === 1) return null;
  const { layer = 0, head = 0 } = desk.opened.value!.request;
  const pick = (next: { layer: number; head: number }) => desk.apply({ head: headName({ site: reply.site, ...next }) });
  return (
    <section class="card far-heads" aria-label="The head">
      <h2>
        Layer {layer}, head {head}
      </h2>
      {reply.sites.length > 1 && (
        <div class="segmented" role="group" aria-label="Which attention">
          {reply.sites.map((site) => (
            <button key={site} type="button" aria-pressed={site === reply.site} onClick={() => desk.apply({ ...ofMatrix, head: headName({ site, layer: 0, head: 0 }) })}>
              {siteNames[site] ?? site}
            </button>
          ))}
        </div>
      )}
      <HeadPicker layers={reply.layers} heads={reply.heads} chosen={{ layer, head }} onPick={pick} />
    </section>
  );
}
