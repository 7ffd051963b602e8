import { describe, expect, it } from "vitest";
import { explainCommand, explainRequest, matchCommand, matchRequest } from "../src/pages/explain/state";

describe("what the address says of an explanation", () => {
  it("asks for all steps, as they are shown", () => {
    expect(explainRequest({})).toEqual({ text: "The cat sat down", numbers: false });
    expect(explainRequest({ text: "a b", query: "b", causal: "true" })).toEqual({
      text: "a b",
      query: "b",
      causal: true,
      all: "full",
      numbers: false,
    });
    const ofModel = explainRequest({ model: "gpt", text: "a", why: "true", all: "full" });
    expect(ofModel).toEqual({ model: "gpt", text: "a", why: ["all"], numbers: false });
    expect(explainRequest({ text: "a", why: "variance,order" }).why).toEqual(["variance", "order"]);
    expect(explainRequest({ text: "a", query: "a", step: "softmax" })).not.toHaveProperty("all");
  });

  it("is what the command takes", () => {
    expect(explainCommand(explainRequest({ text: "a b", causal: "true" }))).toBe("qkv explain 'a b' --causal");
    expect(explainCommand(explainRequest({ model: "gpt", text: "a", head: "1.5", why: "true" }))).toBe(
      "qkv explain a --why --model=gpt --head=1.5 --all=full",
    );
  });

  it("has a picture's captions one a line", () => {
    const request = explainRequest({ model: "towers", picture: "p.png", captions: "red | blue\nx, y" });
    expect(request.captions).toEqual(["red | blue", "x, y"]);
    expect(explainCommand(request)).toBe("qkv explain p.png --caption 'red | blue' --caption 'x, y' --model=towers");
  });

  it("puts no text beside a sound", () => {
    const request = explainRequest({ model: "whisper-tiny", sound: "speech.wav", site: "cross" });
    expect(request).toEqual({ model: "whisper-tiny", sound: "speech.wav", site: "cross", numbers: false });
    expect(explainCommand(request)).toBe("qkv explain --model=whisper-tiny --sound=speech.wav --site=cross");
  });

  it("holds pictures against captions, one a line", () => {
    expect(matchRequest({ text: "a" })).toBeNull();
    const request = matchRequest({ model: "towers", images: "p.png\nq.png", captions: "a red | blue circle\nx, y" });
    expect(request).toEqual({
      model: "towers",
      images: ["p.png", "q.png"],
      captions: ["a red | blue circle", "x, y"],
      maps: true,
      numbers: false,
    });
    expect(matchCommand(request!)).toBe("qkv match p.png q.png 'a red | blue circle' 'x, y' --maps --model=towers");
  });
});
