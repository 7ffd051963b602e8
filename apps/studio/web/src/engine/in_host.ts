// Questions to who shows this page in a frame of its own: a notebook, whose kernel answers. Such a page has an element
//   <script type="application/json" id="host">   {"where": "qkv in the kernel"}
// and posts to its parent window, each message under the name "qkv":
//   page → host  {id, name, body}        a question; body is the JSON of the request
//   page → host  {id, cancel: true}      nobody waits for it any more
//   page → host  {address: "/step?…"}    where the reader is, whenever it changes
//   host → page  {id, bytes: Uint8Array | ArrayBuffer}, {id, done: true}, {id, failed: "why"}   as of a Worker
//   host → page  {address: "/step?…"}    where the reader shall be

import type { OfQuestion } from "../worker/protocol";
import type { Transport } from "./engine";
import { Inbox } from "./inbox";

/** The part of a window that is needed here. */
export interface Place {
  addEventListener(type: "message", listener: (event: { data: unknown; source: unknown }) => void): void;
}

export interface Host {
  postMessage(message: unknown, target: string): void;
}

const gatherFor = 100; // milliseconds

type FromHost = { address: string } | (Omit<OfQuestion, "bytes"> & { bytes?: Uint8Array | ArrayBuffer });

export class InHost implements Transport {
  private readonly asked = new Map<number, Inbox>();
  private lastId = 0;
  private address = "";
  private gathering: ReturnType<typeof setTimeout> | null = null;

  constructor(
    readonly where: string,
    private readonly host: Host,
    page: Place,
    private readonly go: (fragment: string) => void,
  ) {
    page.addEventListener("message", (event) => {
      if (event.source === host) this.hear(event.data);
    });
  }

  answers(): boolean {
    return true;
  }

  send(name: string, body: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    signal.throwIfAborted();
    const id = ++this.lastId;
    const inbox = new Inbox();
    this.asked.set(id, inbox);
    this.post({ id, name, body });
    return inbox.read(signal, () => {
      this.asked.delete(id);
      this.post({ id, cancel: true });
    });
  }

  /** Where the reader is. What changes while something is dragged is gathered. */
  tell(address: string): void {
    if (this.gathering === null) this.gathering = setTimeout(() => this.tellNow(), gatherFor);
    this.address = address;
  }

  private tellNow(): void {
    this.gathering = null;
    this.post({ address: this.address });
  }

  private hear(data: unknown): void {
    const message = (data as { qkv?: FromHost } | null)?.qkv;
    if (!message) return;
    if ("address" in message) return this.go(message.address);
    const { id, bytes, done, failed } = message;
    this.asked.get(id)?.take({
      id,
      ...(bytes && { bytes: new Uint8Array(bytes) }),
      ...(done && { done }),
      ...(failed !== undefined && { failed }),
    });
    if (done || failed !== undefined) this.asked.delete(id);
  }

  private post(message: object): void {
    this.host.postMessage({ qkv: message }, "*"); // a page of a frame that is cut off knows no address of its host
  }
}

/** A blob in a frame that is cut off may write its address, but not go to it. */
export function goInside(fragment: string): void {
  history.pushState(null, "", `#${fragment}`);
  dispatchEvent(new PopStateEvent("popstate"));
}

/** The host of this page; null if it names none. */
export function inHost(page: Document): InHost | null {
  const text = page.getElementById("host")?.textContent;
  if (!text || parent === self) return null;
  const { where } = JSON.parse(text) as { where: string };
  return new InHost(where, parent, window, goInside);
}
