import { Miniflare } from "miniflare";
import { bundle } from "../../runtimes/bundle.ts";

const [, , reported = ""] = process.argv;
const worker = new Miniflare({
  modules: true,
  script: await bundle("../fuzz/runtimes/worker.ts", "esm"),
  compatibilityDate: "2026-08-01",
});
try {
  const response = await worker.dispatchFetch("https://worker.test/", {
    method: "POST",
    body: reported,
  });
  console.log(await response.text());
} finally {
  await worker.dispose();
}
