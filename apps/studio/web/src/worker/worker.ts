// The Worker of a page without a server. It is built as one classic script: from file:// no other starts.

import { Answering } from "./answering";
import type { ToWorker } from "./protocol";

interface Scope {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: { data: ToWorker }) => void): void;
}

const scope = globalThis as unknown as Scope;
const answering = new Answering((message, transfer) => scope.postMessage(message, transfer));
scope.addEventListener("message", (event) => answering.take(event.data));
