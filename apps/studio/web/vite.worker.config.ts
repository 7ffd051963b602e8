import { defineConfig } from "vite";

// The Worker beside the page's script: dist/worker.js.
export default defineConfig({
  build: {
    target: "es2022",
    emptyOutDir: false,
    rollupOptions: {
      input: "src/worker/worker.ts",
      output: { format: "iife", entryFileNames: "worker.js" },
    },
  },
});
