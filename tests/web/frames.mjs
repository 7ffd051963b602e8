// The frames of docs/studio.md: the reply, its blocks or the error, without the progress before them.
export function framesOf(bytes) {
  const frames = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes.readUInt32LE(at);
    const length = bytes.readUInt32LE(at + 4);
    frames.push({ kind, payload: bytes.subarray(at + 8, at + 8 + length) });
    at += 8 + Math.ceil(length / 8) * 8;
  }
  return frames.filter((frame) => frame.kind !== 1);
}
