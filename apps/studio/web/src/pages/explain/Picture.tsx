// A chart, a diagram or an image of an explanation, with its title.

import { useMemo } from "preact/hooks";
import { pixelBytes } from "../../drawing/pixel_bytes";
import type { ExplainedPicture } from "../../engine/messages";
import type { Tensor } from "../../engine/tensor";
import { Picture as Drawn } from "../../parts/Picture";
import { chartDrawing, diagramDrawing, imageDrawing } from "./drawings";

export function Picture({ picture, images }: { picture: ExplainedPicture; images: readonly Tensor[] }) {
  const image = picture.image === null ? undefined : images[picture.image];
  const draw = useMemo(() => {
    if (image) {
      const drawing = imageDrawing(picture, image, pixelBytes(image));
      return () => drawing;
    }
    const { diagram, text } = picture;
    return diagram ? () => diagramDrawing(text, diagram) : (width: number) => chartDrawing(picture, width);
  }, [picture, image]);
  return (
    <figure class={image ? "" : "wide"}>
      {picture.title && <figcaption>{picture.title}</figcaption>}
      <Drawn draw={draw} />
    </figure>
  );
}
