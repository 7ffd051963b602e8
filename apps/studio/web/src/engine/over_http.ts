// Questions to the server that gave the page: POST ask/NAME below the page's own address, token and all.

import type { Transport } from "./engine";
import { EngineGone } from "./errors";

const waits = [200, 600, 1500]; // milliseconds before a request is sent again that a busy server turned away

const refused: Record<number, string> = {
  403: "The server no longer knows this page's address. Open the address that `qkv view` printed last.",
  404: "The server does not know this question: page and server are of different versions. Reload the page.",
  413: "The request is larger than the server reads.",
};

export class OverHttp implements Transport {
  readonly where = "qkv on this computer";

  /** `base`: the page's address up to its last slash. */
  constructor(private readonly base: string) {}

  answers(): boolean {
    return true;
  }

  async *send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const response = await this.post(name, body, signal);
    const reader = response.body?.getReader();
    if (!reader) return;
    try {
      for (;;) {
        const { done, value } = await whileThere(reader.read(), signal);
        if (done) return;
        yield value;
      }
    } finally {
      reader.cancel().catch(() => undefined);
    }
  }

  private async post(name: string, body: string, signal: AbortSignal): Promise<Response> {
    for (const wait of [...waits, null]) {
      const sent = fetch(`${this.base}ask/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        signal,
        credentials: "omit",
        cache: "no-store",
      });
      const response = await whileThere(sent, signal);
      if (response.status === 200) return response;
      if (response.status !== 429) {
        throw new EngineGone(refused[response.status] ?? `The server answered with status ${response.status}.`);
      }
      if (wait !== null) await new Promise((resume) => setTimeout(resume, wait));
      signal.throwIfAborted();
    }
    throw new EngineGone("The server is busy with other requests. Try again in a moment.");
  }
}

async function whileThere<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new EngineGone(
      "qkv no longer answers. The numbers stay. Run `qkv view` again and open the address that it prints.",
    );
  }
}

/** The address of the page without file name, query and fragment. */
export function baseOf(href: string): string {
  return href.replace(/[?#].*$/s, "").replace(/[^/]*$/, "");
}
