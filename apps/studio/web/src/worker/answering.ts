// Questions in, frames out, one after the other: all of the Worker but the posting itself.

import type { FromWorker, Start, ToWorker } from "./protocol";
import { Reactor } from "./reactor";
import { bytesOf } from "./source";

export type Post = (message: FromWorker, transfer: Transferable[]) => void;

interface Waiting {
  id: number;
  name: string;
  body: string;
}

// Letting the posted messages in: among them may be one that says that nobody waits.
const nextTurn = () => new Promise((resume) => setTimeout(resume));

export class Answering {
  private readonly waiting: Waiting[] = [];
  private current: Waiting | null = null;
  private readonly models = new Map<string, Promise<void>>();
  private start: Start | null = null;
  private engine: Promise<Reactor> | null = null;
  private isBusy = false;

  constructor(private readonly post: Post) {}

  take(message: ToWorker): void {
    if ("start" in message) {
      this.start = message.start;
      this.engine = this.open(message.start);
      this.engine.catch(() => {}); // told to whoever asks
    } else if ("cancel" in message) {
      this.drop(message.id);
    } else {
      this.waiting.push(message);
      void this.work();
    }
  }

  private async open(start: Start): Promise<Reactor> {
    const reactor = await Reactor.of(await this.compiled(start.engine));
    for (const name of Object.keys(start.models)) reactor.putFile(pathOf(name), new Uint8Array());
    return reactor;
  }

  private async compiled(engine: Start["engine"]): Promise<WebAssembly.Module> {
    if (engine instanceof WebAssembly.Module) return engine;
    const module = await WebAssembly.compile(await bytesOf(engine));
    this.post({ module }, []);
    return module;
  }

  private drop(id: number): void {
    if (this.current?.id === id) {
      this.current = null; // its engine or model is not there yet
      this.post({ id, done: true }, []);
    }
    const place = this.waiting.findIndex((one) => one.id === id);
    if (place < 0) return;
    this.waiting.splice(place, 1);
    this.post({ id, done: true }, []);
  }

  private async work(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    await nextTurn();
    for (let one = this.waiting.shift(); one; one = this.waiting.shift()) {
      this.current = one;
      await this.answer(one);
      this.current = null;
      await nextTurn();
    }
    this.isBusy = false;
  }

  private async answer(one: Waiting): Promise<void> {
    const { id, name, body } = one;
    try {
      const engine = await this.engine;
      if (!engine) throw new Error("the Worker was not told where its engine is");
      await this.bring(engine, name, body);
      if (this.current !== one) return;
      engine.ask(name, body, (frame) => {
        this.post({ id, bytes: frame }, [frame.buffer]);
        return true;
      });
      this.post({ id, done: true }, []);
    } catch (error) {
      if (this.current === one) this.post({ id, failed: `The engine in this page stopped: ${String(error)}. Reload the page.` }, []);
    }
  }

  // The models that a question names, before it is asked: the engine cannot wait.
  private async bring(engine: Reactor, question: string, body: string): Promise<void> {
    for (const [name, source] of Object.entries(this.start?.models ?? {})) {
      if (!isNeeded(name, question, body)) continue;
      let brought = this.models.get(name);
      if (!brought) {
        brought = bytesOf(source).then((bytes) => engine.putFile(pathOf(name), bytes));
        this.models.set(name, brought);
      }
      await brought;
    }
  }
}

/** A model is named by the request; one in a folder of the box, "bottleneck/vector", by the question. */
export function isNeeded(model: string, question: string, body: string): boolean {
  const [folder, file] = model.split("/");
  return file === undefined ? body.includes(JSON.stringify(model)) : question.split("_")[0] === folder;
}

function pathOf(model: string): string {
  return `models/${model}.safetensors`;
}
