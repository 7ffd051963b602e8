// A pair in words.

import { shown } from "../../drawing/numbers";
import type { PairReply } from "../../engine/messages";

export function pairSentence({ query, key, dot, scale, score, weight }: PairReply): string {
  if (score === null) return `The mask hides “${key}” from “${query}”: the weight is 0.`;
  const scaled = `times ${shown(scale, 3)} it is ${shown(dot * scale, 3)}`;
  return (
    `q of “${query}” times k of “${key}”, number by number, adds up to ${shown(dot, 3)}; ${scaled}, ` +
    `and softmax makes ${shown(weight, 4)} of the score ${shown(score, 3)}.`
  );
}
