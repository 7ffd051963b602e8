// Of node, what the stories use.
declare module "node:child_process" {
  export function execFileSync(file: string, words: readonly string[], options: { encoding: "utf8"; maxBuffer: number }): string;
  export function spawn(
    file: string,
    words: readonly string[],
    options: { stdio: readonly ["ignore", "pipe", "inherit"] },
  ): { stdout: { once(event: "data", listener: (bytes: Uint8Array) => void): void }; kill(): boolean };
}
declare module "node:fs" {
  export function readFileSync(file: string): { toString(encoding: "utf8"): string };
  export function writeFileSync(file: string, data: string | Uint8Array): void;
  export function mkdtempSync(prefix: string): string;
  export function rmSync(path: string, options: { recursive: true; force: true }): void;
}
declare module "node:os" {
  export function tmpdir(): string;
}
