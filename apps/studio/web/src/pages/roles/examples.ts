// What to try: each is a model, a text and a change after which it says something else.

import type { Fields } from "../../app/address";

export interface Example {
  title: string;
  says: string;
  fields: Fields;
}

export const examples: readonly Example[] = [
  {
    title: "Take a head away",
    says: "After abcxyzab comes c: the model saw “bc” before. Without head 1.0 it no longer finds it.",
    fields: { model: "induction", text: "abcxyzab", head: "tokens.1.0", changes: "remove 1.0" },
  },
  {
    title: "Hide one word from another",
    says: "“the nun near the men ⟨be⟩ tired”: is, or are? It depends on one edge, from ⟨be⟩ to nun.",
    fields: { model: "english", text: "the nun near the men <be> tired", head: "tokens.1.5", changes: "cut 5:1" },
  },
  {
    title: "Put another text’s thought in its place",
    says: "One state of abdxyzab, put in the place of c, makes the model say d.",
    fields: {
      model: "induction",
      text: "abcxyzab",
      head: "tokens.0.0",
      from_text: "abdxyzab",
      changes: "patch blocks.0@2",
    },
  },
  {
    title: "Close the translator’s eyes",
    says: "Without cross-attention in layer 1 the decoder cannot read the sentence that it translates.",
    fields: { model: "translation", example: "0", head: "cross.1.0", query: "5", changes: "remove cross:1.*" },
  },
];
