import { Miniflare } from "miniflare";

/** Makes Workers, each in an isolate of its own, in a workerd that runs. */
export interface Isolates {
  /** Makes one out of a script, and gives the text that it answers its first request with. */
  readonly run: (code: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

const compatibilityDate = "2026-08-01";

/** A Worker that makes another for each request, out of the script that it is sent. */
const host = `
  let made = 0;
  export default {
    async fetch(request, { LOADER }) {
      const code = await request.text();
      const worker = LOADER.get(String(made++), () => ({
        compatibilityDate: "${compatibilityDate}",
        mainModule: "worker.js",
        modules: { "worker.js": code },
      }));
      try {
        return await worker.getEntrypoint().fetch("https://worker.test/");
      } catch (error) {
        return new Response(String(error));
      }
    },
  };`;

/** Starts a workerd, without `nodejs_compat`. */
export const startIsolates = async (): Promise<Isolates> => {
  const miniflare = new Miniflare({
    modules: true,
    script: host,
    compatibilityDate,
    workerLoaders: { LOADER: {} },
  });
  const url = await miniflare.ready;
  return {
    run: async (body) => (await fetch(url, { method: "POST", body })).text(),
    stop: () => miniflare.dispose(),
  };
};
