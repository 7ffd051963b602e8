import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["stories/*.story.ts"], testTimeout: 30_000, hookTimeout: 30_000, fileParallelism: false },
});
