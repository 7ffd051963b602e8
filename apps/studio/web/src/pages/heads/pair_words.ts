// A pair in words.

import { shown } from "../../drawing/numbers";
import type { PairReply } from "../../engine/messages";

export function pairSentence({ query, key, dot, scale, softcapped, bias, score, weight }: PairReply): string {
  if (score === null) return `The mask hides “${key}” from “${query}”: the weight is 0.`;
  // Digits enough for the product to come out as it is said.
  const steps = [
    `q of “${query}” times k of “${key}”, number by number, adds up to ${shown(dot, 3)}`,
    `times ${shown(scale, 6)} it is ${shown(dot * scale, 3)}`,
  ];
  if (softcapped !== null) steps.push(`after the softcap ${shown(softcapped, 3)}`);
  if (bias !== null) steps.push(`the bias of this pair, ${shown(bias, 3)}, is added`);
  return `${steps.join("; ")}; the softmax of the row turns the score ${shown(score, 3)} into the weight ${shown(weight, 4)}.`;
}
