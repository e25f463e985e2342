import { defineConfig } from "vitest/config";

// The chat server serves ../chatserver/static under /static/ and worker.html under /work, so the
// pages name their assets by absolute path.
export default defineConfig({
  base: "/static/",
  publicDir: false,
  build: {
    outDir: "../chatserver/static",
    emptyOutDir: true,
    target: "es2022",
    // An inlined data: URL would need a looser content security policy than 'self'.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: { worker: "worker.html" } },
  },
  server: {
    proxy: {
      "/api": "http://127.0.0.1:8080",
      "/items": "http://127.0.0.1:8080",
      "/socket.io": { target: "http://127.0.0.1:8080", ws: true },
    },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
    passWithNoTests: true,
  },
});
