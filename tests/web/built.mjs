// Whether there is what `make web` builds, of these sources; ends with 77 where not.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

export function requireFile(file, how) {
  if (!fs.existsSync(file)) skip(`${how} has not made ${file}`);
}

/** `module` lies in BUILD/apps/studio/wasm. One of other sources answers otherwise. */
export function requireFresh(module, target) {
  requireFile(module, "`make web`");
  const build = path.resolve(path.dirname(module), "../../..");
  if (!execFileSync("ninja", ["-C", build, "-n", target]).includes("no work to do")) {
    skip(`${module} is older than its sources: \`make web\` builds it anew`);
  }
}
