// What the address says of the page: which run, which of its models, which example and head.

import { wholeNumber, type Fields } from "../../app/address";
import type { LearnModel, LearnReply } from "../../engine/messages";
import type { Head } from "../../parts/HeadPicker";

export interface Chosen extends Head {
  run: string;
  /** The step of the model that is shown; null: the last one. */
  step: number | null;
  example: number;
  text: string;
  site: string;
}

export function chosenOf(fields: Fields): Chosen {
  const [site = "", layer, head] = (fields["head"] ?? "").split(".");
  return {
    run: fields["run"] ?? "",
    step: wholeNumber(fields["step"]),
    example: wholeNumber(fields["example"]) ?? 0,
    text: fields["text"] ?? "",
    site,
    layer: wholeNumber(layer) ?? 0,
    head: wholeNumber(head) ?? 0,
  };
}

/** The kept model of the chosen step, or the last one before it, or the first. */
export function modelAt(kept: readonly LearnModel[], step: number | null): LearnModel | null {
  if (step === null) return kept.at(-1) ?? null;
  return [...kept].reverse().find((model) => model.step <= step) ?? kept[0] ?? null;
}

/** At most `most` of the kept models, the first and the last among them, as even as they can be. */
export function spread(kept: readonly LearnModel[], most: number): LearnModel[] {
  if (kept.length <= most) return [...kept];
  const places = Array.from({ length: most }, (_, n) => Math.round((n * (kept.length - 1)) / (most - 1)));
  return [...new Set(places)].map((place) => kept[place]!);
}

export function trainCommand(reply: LearnReply): string {
  return `qkv train ${reply.run?.task ?? "induction"} --keep-every 100`;
}

/** The steps that are drawn. */
export function stepsOf(reply: LearnReply): number[] {
  return Array.from(reply.step.values as BigInt64Array, Number);
}
