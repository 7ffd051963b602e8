// The colours behind the roles of marks, for files; on the screen, the same names are CSS variables (app/colours.css).

import type { Paint } from "./marks";

export type Ground = "light" | "dark";
export type Palette = Record<Exclude<Paint, `#${string}`>, string>;

export const palettes: Record<Ground, Palette> = {
  light: {
    ink: "#1a1c22",
    soft: "#5b606b",
    rule: "#d5d8de",
    paper: "#ffffff",
    ground: "#f6f6f3",
    accent: "#0b63b8",
    q: "#6f42c1",
    k: "#9a6200",
    v: "#007a63",
  },
  dark: {
    ink: "#eceef2",
    soft: "#a4aab6",
    rule: "#3a3e49",
    paper: "#1b1e26",
    ground: "#12141a",
    accent: "#74b4f5",
    q: "#b79bf0",
    k: "#e0b34a",
    v: "#5fc9a0",
  },
};

export function paintFrom(palette: Palette): (paint: Paint) => string {
  return (paint) => (paint.startsWith("#") ? paint : palette[paint as keyof Palette]);
}

/** For the screen: follows the theme without being drawn again. */
export function paintByVariable(paint: Paint): string {
  return paint.startsWith("#") ? paint : `var(--${paint})`;
}
