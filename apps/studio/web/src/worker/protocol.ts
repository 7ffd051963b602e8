// What a page and its Worker post to each other.
//   page → Worker  {start}                      once, first: where the engine and its models are
//   page → Worker  {id, name, body}             a question; body is the JSON of the request
//   page → Worker  {id, cancel: true}           nobody waits for it any more; one that is computed goes on
//   Worker → page  {module}                     the engine, compiled: for the start of the next Worker
//   Worker → page  {id, bytes: Uint8Array}      frames, in any cuts (the buffer is transferred)
//   Worker → page  {id, done: true}             no more bytes for this question
//   Worker → page  {id, failed: "why"}          the Worker cannot go on
// Questions are answered one after the other. The bytes are those that the server would send.

/** Bytes, compressed with gzip or as they are: written into the page in base 85, or at an address. */
export type Source = { base85: string } | { url: string };

export interface Start {
  engine: Source | WebAssembly.Module;
  /** Models of the box by name. */
  models: Record<string, Source>;
}

export type ToWorker = { start: Start } | { id: number; name: string; body: string } | { id: number; cancel: true };

export interface OfQuestion {
  id: number;
  bytes?: Uint8Array;
  done?: true;
  failed?: string;
}

export type FromWorker = { module: WebAssembly.Module } | OfQuestion;
