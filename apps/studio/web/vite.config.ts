import { defineConfig, type Plugin } from "vite";

// A module script does not load from file:// in Chromium; a classic, deferred one does.
function classicScript(): Plugin {
  return {
    name: "classic-script",
    apply: "build",
    transformIndexHtml: { order: "post", handler: (html) => html.replaceAll('type="module" crossorigin', "defer").replaceAll(" crossorigin", "") },
  };
}

export default defineConfig({
  base: "./",
  plugins: [classicScript()],
  // By its number: a bare system knows no "localhost".
  server: { host: "127.0.0.1" },
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: { format: "iife", entryFileNames: "studio.js", assetFileNames: "studio[extname]", inlineDynamicImports: true },
    },
  },
});
