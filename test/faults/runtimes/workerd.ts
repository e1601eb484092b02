import { Miniflare } from "miniflare";
import { bundle } from "../../runtimes/bundle.ts";

const [, , control = ""] = process.argv;
// The authority to trust is in NODE_EXTRA_CA_CERTS, which Miniflare reads.
const worker = new Miniflare({
  modules: true,
  script: await bundle("../faults/runtimes/worker.ts", "esm"),
  compatibilityDate: "2026-08-01",
});
try {
  const query = new URLSearchParams({ control });
  const response = await worker.dispatchFetch(`https://worker.test/?${query}`);
  console.log(await response.text());
} finally {
  await worker.dispose();
}
