// The Worker in a process of its own: `runtime.ts <folder> <script>`, its variables in WORKER_ENV. It prints
// its port.
import { readFileSync } from "node:fs";
import { Miniflare } from "miniflare";

const [, , folder = "", script = ""] = process.argv;
const worker = new Miniflare({
  modules: true,
  script: readFileSync(script, "utf8"),
  compatibilityDate: "2026-08-01",
  compatibilityFlags: ["nodejs_compat"],
  host: "127.0.0.1",
  port: 0,
  bindings: JSON.parse(process.env.WORKER_ENV ?? "{}"),
  durableObjects: {
    SHARDS: { className: "Shard", useSQLite: true },
    DIRECTORY: { className: "Directory", useSQLite: true },
    TALKS: { className: "Talk", useSQLite: true },
  },
  durableObjectsPersist: folder,
});
// Who started it holds the other end of stdin: when that goes, this goes.
process.stdin.on("end", () => worker.dispose().finally(() => process.exit())).resume();
console.log((await worker.ready).port);
