// Of node, what the stories use.
declare module "node:child_process" {
  export function execFileSync(file: string, words: readonly string[], options: { encoding: "utf8"; maxBuffer: number }): string;
}
declare module "node:fs" {
  export function readFileSync(file: string): { toString(encoding: "utf8"): string };
}
