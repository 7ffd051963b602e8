/** The canvas, cleared, in the size of its place on the screen, with as many pixels as the screen has; drawing is in CSS pixels. */
export function sharpCanvas(canvas: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null {
  const context = canvas?.getContext("2d") ?? null;
  if (!canvas || !context) return null;
  const ratio = Math.min(globalThis.devicePixelRatio || 1, 3);
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
