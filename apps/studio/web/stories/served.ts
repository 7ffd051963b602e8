// A studio of its own for a story: `qkv view` with a model, a text or a file.

import { spawn } from "node:child_process";

export interface Served {
  address: string;
  stop(): void;
}

export async function servedBy(qkv: string, ...words: string[]): Promise<Served> {
  const server = spawn(qkv, ["view", ...words, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise<string>((resolve) => server.stdout.once("data", (line) => resolve(new TextDecoder().decode(line).trim())));
  return { address, stop: () => void server.kill() };
}
