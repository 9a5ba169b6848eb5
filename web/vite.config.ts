import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, loadEnv } from "vite";

// `npm run dev` serves the pages with their source and asks a running Handrail for everything else.
const server = loadEnv("", ".", "HANDRAIL_")["HANDRAIL_SERVER"] ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [react(), tailwind()],
  build: {
    outDir: "../src/handrail/server/console/built",
    emptyOutDir: true,
    target: "es2022",
    // Nothing is put into the page itself: the policy of the server would not let it run.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What is small comes together: apart it would be larger, and each piece would be asked for.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "ground", test: /node_modules\/(?!uplot)|src\/(api|ui|words)\//, priority: 3 },
            { name: "approvals", test: /src\/(approvals|shell|\w+\.tsx)/, priority: 2 },
            { name: "small-pages", test: /src\/(activity|chat|drafts|grants|machines|memory|skills|settings|policy)\//, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { "/my": server, "/console": server, "/health": server } },
});
