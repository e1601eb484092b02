import { Miniflare } from "miniflare";
import { bundle } from "./bundle.ts";

const [, , peer = "", list = ""] = process.argv;
const worker = new Miniflare({
  modules: true,
  script: await bundle("./worker.ts", "esm"),
  compatibilityDate: "2026-08-01",
  durableObjects: { ROOMS: { className: "Room", useSQLite: true } },
});
try {
  const query = new URLSearchParams({ peer, list });
  const response = await worker.dispatchFetch(`https://worker.test/?${query}`);
  console.log(await response.text());
} finally {
  await worker.dispose();
}
