// What the page takes from C++ without asking each time has to be what C++ says.

import { describe, expect, it } from "vitest";
import { colourAt, colourCount, type ColourMap } from "../src/drawing/colour";
import { Engine } from "../src/engine/engine";
import { examples, type Questions } from "../src/engine/messages";
import { OverHttp } from "../src/engine/over_http";
import { rowOf, type Tensor } from "../src/engine/tensor";
import { studioUrl } from "./browser";

describe.skipIf(!studioUrl)("the engine (set STUDIO_URL to what `qkv view --no-open` prints)", () => {
  const engine = new Engine(new OverHttp(studioUrl ?? ""));

  it("has the colours of the pages, each of them", async () => {
    const about = await engine.ask("about", {});
    const hex = (tensor: Tensor, index: number) =>
      `#${rowOf(tensor, index)
        .map((channel) => channel.toString(16).padStart(2, "0"))
        .join("")}`;
    for (const ground of ["light", "dark"] as const) {
      for (const map of ["sequential", "diverging"] as ColourMap[]) {
        const ours = Array.from({ length: colourCount }, (_, index) => colourAt(map, index, ground));
        expect(ours).toEqual(ours.map((__, index) => hex(about[ground][map], index)));
      }
    }
  });

  it("answers every example of every question", async () => {
    for (const [name, requests] of Object.entries(examples)) {
      for (const request of requests) await engine.ask(name as keyof Questions, request);
    }
  });
});
