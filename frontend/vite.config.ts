import { defineConfig } from "vitest/config";

// The chat server serves ../chatserver/static under /static/, worker.html under /work and
// monitor.html under /monitor, so the pages name their assets by absolute path. `npm run build`
// builds the two one after the other, so that they share no file: what changes in the team's page
// never makes a worker load anything anew.
export default defineConfig(({ mode }) => ({
  base: "/static/",
  publicDir: false,
  build: {
    outDir: "../chatserver/static",
    emptyOutDir: mode !== "monitor",
    target: "es2022",
    // An inlined data: URL would need a looser content security policy than 'self'.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: mode === "monitor" ? { monitor: "monitor.html" } : { worker: "worker.html" },
    },
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
}));
