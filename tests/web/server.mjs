// `qkv view` in an empty directory, and questions to it.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

export async function openServer(qkv, environment = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "qkv-web-"));
  const child = spawn(path.resolve(qkv), ["view", "--no-open"], { cwd: folder, env: { ...process.env, ...environment } });
  const address = await new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (text) => {
      said += text;
      if (said.includes("\n")) resolve(said.split("\n")[0].trim());
    });
    child.stderr.on("data", (text) => process.stderr.write(text));
    child.on("exit", (code) => reject(new Error(`qkv view ended with ${code}`)));
  });
  return {
    async ask(name, body) {
      const init = { method: "POST", headers: { "Content-Type": "application/json" }, body };
      return Buffer.from(await (await fetch(`${address}ask/${name}`, init)).arrayBuffer());
    },
    close() {
      child.removeAllListeners("exit");
      child.kill();
      fs.rmSync(folder, { recursive: true });
    },
  };
}
