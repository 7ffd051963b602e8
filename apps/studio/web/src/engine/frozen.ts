// Replies frozen into the page: <script type="application/json" id="frozen"> holds {"NAME {request}": "base64"}.

import type { Transport } from "./engine";
import { EngineError } from "./errors";

export class Frozen implements Transport {
  readonly where = "computed when this page was made";

  constructor(private readonly replies: ReadonlyMap<string, string>) {}

  answers(name: string, body: string): boolean {
    return this.replies.has(`${name} ${body}`);
  }

  async *send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    const bytes = this.replies.get(`${name} ${body}`);
    if (bytes === undefined) throw new EngineError(this.refusal(name));
    yield Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0));
  }

  private refusal(name: string): string {
    const others = [...this.replies.keys()].filter((key) => key.startsWith(`${name} `)).length;
    const holds = others === 1 ? "one reply" : `${others} replies`;
    return (
      `This page is a picture of one moment: it holds ${holds} of the kind “${name}”, not this one. ` +
      "`qkv view` opens the same page with everything to edit."
    );
  }
}

/** The replies in the element's text. Throws if it is no JSON object of texts. */
export function frozenReplies(text: string): Map<string, string> {
  const json: unknown = JSON.parse(text);
  const entries = json !== null && typeof json === "object" && !Array.isArray(json) ? Object.entries(json) : null;
  if (!entries?.every((entry): entry is [string, string] => typeof entry[1] === "string")) {
    throw new Error("the element #frozen has to hold a JSON object of texts");
  }
  return new Map(entries);
}
