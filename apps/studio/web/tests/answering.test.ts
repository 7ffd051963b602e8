import { describe, expect, it, vi } from "vitest";
import { Answering } from "../src/worker/answering";
import type { FromWorker } from "../src/worker/protocol";

describe("the Worker", () => {
  it("drops a question whose engine is still on its way, and answers for it no more", async () => {
    let arrive = (_: Response) => {};
    vi.stubGlobal("fetch", () => new Promise<Response>((resolve) => (arrive = resolve)));
    const posted: FromWorker[] = [];
    const answering = new Answering((message) => posted.push(message));
    answering.take({ start: { engine: { url: "http://site/engine.bin" }, models: {} } });
    answering.take({ id: 1, name: "about", body: "{}" });
    await new Promise((resume) => setTimeout(resume, 20));
    answering.take({ id: 1, cancel: true });
    expect(posted).toEqual([{ id: 1, done: true }]);
    arrive(new Response(null, { status: 404 }));
    answering.take({ id: 2, name: "about", body: "{}" });
    await vi.waitFor(() => expect(posted).toHaveLength(2));
    expect(posted[1]).toMatchObject({ id: 2, failed: expect.stringContaining("404") });
    vi.unstubAllGlobals();
  });
});
