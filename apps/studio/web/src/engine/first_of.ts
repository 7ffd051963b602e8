// Two transports as one: what the first cannot answer goes to the second.

import type { Transport } from "./engine";

export class FirstOf implements Transport {
  constructor(
    private readonly first: Transport,
    private readonly second: Transport,
  ) {}

  get where(): string {
    return this.second.where;
  }

  get isInPage(): boolean {
    return this.second.isInPage === true;
  }

  get replies(): ReadonlyMap<string, Uint8Array> {
    return this.first.replies ?? new Map();
  }

  answers(name: string, body: string): boolean {
    return this.first.answers(name, body) || this.second.answers(name, body);
  }

  send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return (this.first.answers(name, body) ? this.first : this.second).send(name, body, signal);
  }
}
