import type { Tensor } from "../engine/tensor";

/** Red, green, blue and opacity of each pixel of an image u8 [height, width, 3]. A canvas is kept by these bytes. */
export function pixelBytes(image: Tensor): Uint8ClampedArray {
  const [height = 0, width = 0] = image.shape;
  const bytes = new Uint8ClampedArray(4 * width * height).fill(255);
  for (let n = 0; n < width * height; ++n) for (let c = 0; c < 3; ++c) bytes[4 * n + c] = Number(image.values[3 * n + c]);
  return bytes;
}
