// A reply on the wire: frames of u32 kind, u32 length (little endian), payload, zeros up to a multiple of 8.

export const frameKind = { progress: 1, reply: 2, block: 3, error: 4 } as const;

export interface Frame {
  kind: number;
  payload: Uint8Array;
}

const headBytes = 8;
const largestPayload = 1 << 30;

function padded(length: number): number {
  return Math.ceil(length / 8) * 8;
}

/** Takes bytes as they come, and gives each frame as soon as it is whole. */
export class FrameReader {
  private readonly chunks: Uint8Array[] = [];
  private held = 0;

  push(chunk: Uint8Array): Frame[] {
    this.chunks.push(chunk);
    this.held += chunk.length;
    const frames: Frame[] = [];
    for (let frame = this.next(); frame; frame = this.next()) frames.push(frame);
    return frames;
  }

  /** Throws if the bytes ended inside a frame. */
  end(): void {
    if (this.held > 0) throw new Error(`the reply ended inside a frame, with ${this.held} bytes of it read`);
  }

  private next(): Frame | null {
    if (this.held < headBytes) return null;
    const head = this.peek(headBytes);
    const view = new DataView(head.buffer, head.byteOffset, headBytes);
    const kind = view.getUint32(0, true);
    const length = view.getUint32(4, true);
    if (kind < 1 || kind > 4) throw new Error(`the reply has a frame of kind ${kind}; kinds go from 1 to 4`);
    if (length > largestPayload)
      throw new Error(`the reply has a frame of ${length} bytes; at most ${largestPayload} are read`);
    const whole = headBytes + padded(length);
    if (this.held < whole) return null;
    const bytes = this.peek(whole);
    this.drop(whole);
    return { kind, payload: bytes.subarray(headBytes, headBytes + length) };
  }

  // The first `count` bytes in one piece.
  private peek(count: number): Uint8Array {
    const first = this.chunks[0];
    if (first && first.length >= count) return first.subarray(0, count);
    const all = new Uint8Array(this.held);
    let at = 0;
    for (const chunk of this.chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    this.chunks.splice(0, this.chunks.length, all);
    return all.subarray(0, count);
  }

  private drop(count: number): void {
    const first = this.chunks[0];
    if (!first) return;
    this.chunks[0] = first.subarray(count);
    this.held -= count;
    if (this.chunks[0].length === 0) this.chunks.shift();
  }
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The bytes of one frame, for tests and for pages that freeze replies. */
export function frameBytes(kind: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(headBytes + padded(payload.length));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, kind, true);
  view.setUint32(4, payload.length, true);
  bytes.set(payload, headBytes);
  return bytes;
}
