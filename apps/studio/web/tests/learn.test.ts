import { describe, expect, it } from "vitest";
import { chosenOf, modelAt, spread } from "../src/pages/learn/state";

const kept = [0, 100, 200, 300, 400].map((step) => ({ step, path: `steps/${step}` }));

describe("the page Learn", () => {
  it("reads its address, and takes nothing that is no number", () => {
    expect(chosenOf({ run: "qkv-copy", step: "200", head: "cross.1.3", example: "7" })).toMatchObject({ run: "qkv-copy", step: 200, site: "cross", layer: 1, head: 3, example: 7 });
    expect(chosenOf({ step: "-1", head: "x", example: "1e9" })).toMatchObject({ step: null, layer: 0, head: 0, example: 0 });
  });

  it("shows the last model, or that of the step or before it", () => {
    expect(modelAt(kept, null)?.step).toBe(400);
    expect(modelAt(kept, 250)?.step).toBe(200);
    expect(modelAt(kept.slice(1), 50)?.step).toBe(100);
    expect(modelAt([], 50)).toBeNull();
  });

  it("spreads few frames over many models, from the first to the last", () => {
    expect(spread(kept, 3).map((one) => one.step)).toEqual([0, 200, 400]);
    expect(spread(kept, 8)).toHaveLength(5);
  });
});
