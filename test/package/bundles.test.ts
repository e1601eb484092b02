import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { describe, expect, test } from "vitest";
import { entries, installConsumer } from "./project.ts";

const project = installConsumer();

/** A user's file as one bundle, as a Worker's own tool makes it; a warning fails. */
const bundle = async (contents: string): Promise<string> => {
  const { outputFiles, warnings } = await build({
    stdin: { contents, resolveDir: project, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["module", "main"],
    target: "es2022",
    logLevel: "silent",
  });
  expect(warnings).toEqual([]);
  return outputFiles[0]?.text ?? "";
};

describe("a bundle of one name leaves the others out", () => {
  /** Words that only these parts of the package contain. */
  const marks: Readonly<Record<string, readonly [name: string, entry: string, mark: RegExp]>> = {
    "the client": ["Client", "outdial", /was disposed of/],
    "the emulator": ["createEmulator", "outdial/emulator", /Invalid API Key\./],
    "the callbacks": ["callbackHandler", "outdial/callbacks", /wrong_token/],
    "the flows": ["flowHandler", "outdial/flows", /on_no_answer/],
  };

  test.each(Object.entries(marks))("calls comes without %s", async (_, [name, entry, mark]) => {
    expect(await bundle(`export { ${name} } from "${entry}";`)).toMatch(mark);
    const alone = await bundle(`import { calls } from "outdial"; console.log(calls.create);`);
    expect(alone).toContain("/initiate");
    expect(alone).not.toMatch(mark);
  });

  test("outdial/fetch comes without ky, and outdial with it", async () => {
    const ky = /throwHttpErrors/;
    for (const name of ["calls", "Client"]) {
      expect(await bundle(`export { ${name} } from "outdial"`)).toMatch(ky);
      expect(await bundle(`export { ${name} } from "outdial/fetch"`)).not.toMatch(ky);
    }
  });

  test("nothing but its own entry brings a carrier", async () => {
    for (const [carrier, words] of [
      ["twilio", /api\.twilio|twiml/i],
      ["vonage", /nexmo|\bncco/i],
      ["telnyx", /api\.telnyx|texml/i],
    ] as const) {
      expect(await bundle(`export * from "outdial/${carrier}"`)).toMatch(words);
      const others = entries.filter(
        (one) => !one.includes(carrier) && !/emulator|testing/.test(one),
      );
      for (const entry of others) {
        expect(await bundle(`export * from "${entry}"`), entry).not.toMatch(words);
      }
    }
  });

  test("calls comes without any Node module", async () => {
    const alone = await bundle(`import { calls } from "outdial"; console.log(calls.create);`);
    expect(alone).not.toMatch(/["']node:|\bprocess\.|\bBuffer\b/);
  });
});

test("a Worker without nodejs_compat loads every entry, and places a call", async () => {
  const imports = entries.map((entry, at) => `import * as entry${at} from "${entry}";`);
  const miniflare = new Miniflare({
    modules: true,
    compatibilityDate: "2026-08-01",
    script: await bundle(`
      ${imports.join("\n")}
      import { params } from "./params.ts";
      const { calls } = entry0;
      const { createEmulator } = entry${entries.indexOf("outdial/emulator")};
      export default {
        async fetch() {
          const { apiKey, fetch } = createEmulator({ clock: "instant", fetch: () => new Response() });
          const { id } = await calls.create(params, { apiKey, fetch, baseUrl: "https://voice.test" });
          const names = [${entries.map((_, at) => `Object.keys(entry${at}).length`).join()}];
          return Response.json({ id, names });
        },
      };
    `),
  });
  try {
    const response = await miniflare.dispatchFetch("https://worker.test/");
    expect(await response.json()).toEqual({
      id: expect.stringMatching(/^cs_[0-9A-Z]{26}$/),
      names: entries.map(() => expect.toSatisfy((count: number) => count > 0)),
    });
  } finally {
    await miniflare.dispose();
  }
});
