// Marks as SVG: elements on the screen and text in a file, from the same list of tags and attributes.

import { h, type JSX } from "preact";
import { sheetOf } from "./canvas";
import { arrowHead, textSize, type Drawing, type Line, type Mark, type Paint } from "./marks";
import { paintByVariable, paintFrom, type Palette } from "./palette";

type Attributes = Record<string, string | number>;

interface Shape {
  tag: string;
  attributes: Attributes;
  text?: string;
}

type ToColour = (paint: Paint) => string;

const fonts = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function pathOf(points: readonly (readonly [number, number])[], closed: boolean): string {
  const steps = points.map(([x, y], n) => `${n === 0 ? "M" : "L"}${round(x)} ${round(y)}`);
  return steps.join("") + (closed ? "Z" : "");
}

function curveOf(points: Line["points"]): string {
  const [[fromX, fromY] = [0, 0], [toX, toY] = [0, 0]] = [points.at(0), points.at(-1)];
  const middle = round((fromX + toX) / 2);
  return `M${round(fromX)} ${round(fromY)}C${middle} ${round(fromY)} ${middle} ${round(toY)} ${round(toX)} ${round(toY)}`;
}

function drawn(mark: Exclude<Mark, { kind: "label" } | { kind: "pixels" }>, colour: ToColour): Attributes {
  const attributes: Attributes = { fill: mark.fill ? colour(mark.fill) : "none" };
  if (mark.stroke) {
    attributes["stroke"] = colour(mark.stroke);
    attributes["stroke-width"] = mark.thick ?? 1.5;
    if (mark.dashed) attributes["stroke-dasharray"] = "3 3";
    if (mark.kind === "line") attributes["stroke-linecap"] = "round";
  }
  return attributes;
}

function lineShapes(mark: Line, colour: ToColour): Shape[] {
  const attributes = drawn(mark, colour);
  if (mark.curved) return [{ tag: "path", attributes: { ...attributes, d: curveOf(mark.points) } }];
  const [from, to] = [mark.points.at(-2), mark.points.at(-1)];
  if (!mark.arrow || !from || !to) {
    return [{ tag: "path", attributes: { ...attributes, d: pathOf(mark.points, mark.fill !== undefined) } }];
  }
  const { shaft, corners } = arrowHead(from, to);
  const head: Attributes = { fill: attributes["stroke"] ?? "none", d: pathOf(corners, true) };
  return [
    { tag: "path", attributes: { ...attributes, d: pathOf([...mark.points.slice(0, -1), shaft], false) } },
    { tag: "path", attributes: head },
  ];
}

function shapesOf(mark: Mark, colour: ToColour): Shape[] {
  switch (mark.kind) {
    case "box": {
      const { width, height } = mark;
      const place = { x: round(mark.x), y: round(mark.y), width: round(width), height: round(height), rx: mark.radius ?? 0 };
      return [{ tag: "rect", attributes: { ...drawn(mark, colour), ...place } }];
    }
    case "disc":
      return [{ tag: "circle", attributes: { ...drawn(mark, colour), cx: round(mark.x), cy: round(mark.y), r: mark.radius } }];
    case "line":
      return lineShapes(mark, colour);
    case "pixels": {
      const { x, y, width, height } = mark;
      const place = { x: round(x), y: round(y), width: round(width), height: round(height) };
      const look = { preserveAspectRatio: "none", style: "image-rendering: pixelated" };
      return [{ tag: "image", attributes: { ...place, ...look, href: sheetOf(mark).toDataURL() } }];
    }
    case "label": {
      const attributes: Attributes = {
        x: round(mark.x),
        y: round(mark.y + (mark.size ?? textSize) * 0.36),
        fill: colour(mark.fill ?? "ink"),
        "font-size": mark.size ?? textSize,
        "text-anchor": mark.anchor ?? "start",
      };
      if (mark.turn) attributes["transform"] = `rotate(${mark.turn} ${round(mark.x)} ${round(mark.y)})`;
      if (mark.bold) attributes["font-weight"] = 600;
      if (mark.halo) Object.assign(attributes, { stroke: colour("paper"), "stroke-width": 4, "paint-order": "stroke", "stroke-linejoin": "round" });
      return [{ tag: "text", attributes, text: mark.text }];
    }
  }
}

function allShapes(marks: readonly Mark[], colour: ToColour): Shape[] {
  return marks.flatMap((mark) =>
    shapesOf(mark, colour).map((shape) => ({
      ...shape,
      attributes: {
        ...shape.attributes,
        ...(mark.opacity !== undefined && mark.opacity < 1 ? { opacity: round(mark.opacity) } : {}),
        ...(mark.name ? { "data-name": mark.name } : {}),
      },
    })),
  );
}

/** The marks as elements for an <svg> of the page; colours are CSS variables. */
export function svgElements(marks: readonly Mark[]): JSX.Element[] {
  return allShapes(marks, paintByVariable).map(({ tag, attributes, text }) => h(tag, attributes, text) as JSX.Element);
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
}

function written({ tag, attributes, text }: Shape): string {
  const pairs = Object.entries(attributes).filter(([name]) => name !== "data-name");
  const open = `${tag} ${pairs.map(([name, value]) => `${name}="${escaped(String(value))}"`).join(" ")}`;
  return text === undefined ? `<${open}/>` : `<${open}>${escaped(text)}</${tag}>`;
}

/** A whole SVG file with its own ground. */
export function svgFile(drawing: Drawing, palette: Palette): string {
  const { width, height, title, marks } = drawing;
  const shapes = allShapes(marks, paintFrom(palette)).map(written).join("\n");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" ` +
    `height="${round(height)}" font-family="${fonts}">\n<title>${escaped(title)}</title>\n` +
    `<rect width="100%" height="100%" fill="${palette.paper}"/>\n${shapes}\n</svg>\n`
  );
}
