// The engine as a module of WebAssembly: apps/studio/wasm/engine.cc says what its exports do.

import { unicode } from "./unicode";
import { wasi } from "./wasi";

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  alloc(bytes: number): number;
  free(at: number): void;
  put_file(path: number, pathBytes: number, bytes: number, count: number): void;
  ask(name: number, nameBytes: number, request: number, requestBytes: number): number;
}

/** Takes a frame; false ends the work on the question. */
export type Hear = (frame: Uint8Array<ArrayBuffer>) => boolean;

export class Reactor {
  private hear: Hear = () => false;

  private constructor(private readonly exports: () => Exports) {}

  static async of(module: WebAssembly.Module): Promise<Reactor> {
    let exports: Exports | null = null;
    const there = () => exports!;
    const reactor = new Reactor(there);
    const imports = {
      qkv: {
        hear: (at: number, bytes: number) => (reactor.hear(reactor.copyOf(at, bytes)) ? 1 : 0),
        ...unicode(() => there().memory),
      },
      wasi_snapshot_preview1: wasi(() => there().memory),
    };
    exports = (await WebAssembly.instantiate(module, imports)).exports as unknown as Exports;
    exports._initialize();
    return reactor;
  }

  /** A model of the box, or another file that the engine may read. */
  putFile(path: string, bytes: Uint8Array): void {
    this.with(new TextEncoder().encode(path), (at, length) => {
      this.exports().put_file(at, length, this.given(bytes), bytes.length);
    });
  }

  /** False if `hear` ended the work. Throws what the engine died of. */
  ask(name: string, request: string, hear: Hear): boolean {
    const encoder = new TextEncoder();
    this.hear = hear;
    let heard = false;
    this.with(encoder.encode(name), (nameAt, nameBytes) => {
      this.with(encoder.encode(request), (at, bytes) => {
        heard = this.exports().ask(nameAt, nameBytes, at, bytes) !== 0;
      });
    });
    return heard;
  }

  private copyOf(at: number, bytes: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.exports().memory.buffer.slice(at, at + bytes) as ArrayBuffer);
  }

  private given(bytes: Uint8Array): number {
    const at = this.exports().alloc(Math.max(1, bytes.length));
    if (at === 0) throw new Error(`the engine has no memory for ${bytes.length} bytes`);
    new Uint8Array(this.exports().memory.buffer).set(bytes, at);
    return at;
  }

  private with(bytes: Uint8Array, use: (at: number, length: number) => void): void {
    const at = this.given(bytes);
    use(at, bytes.length);
    this.exports().free(at);
  }
}
