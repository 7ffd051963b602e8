import { describe, expect, it } from "vitest";
import { orFirst } from "../src/app/models";
import type { AboutReply } from "../src/engine/messages";

const about = (...names: string[]) => ({ models: names.map((name) => ({ name, task: "", examples: [] })) }) as unknown as AboutReply;

describe("a model to begin with", () => {
  it("is the usual one, or the first of those in the file", () => {
    expect(orFirst("english", about("copy", "english"))).toBe("english");
    expect(orFirst("english", about("gpt", "copy"))).toBe("gpt");
    expect(orFirst("english", about())).toBe("english");
  });
});
