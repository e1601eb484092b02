import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";

const node = path("test/node_modules/node/bin/node");

test("biome has nothing to change", async () => {
  const { code, stdout, stderr } = await execute(path("node_modules/.bin/biome"), ["check", "."]);
  expect(code, stdout + stderr).toBe(0);
});

test("no file, export or package is unused (knip)", async () => {
  const { code, stdout } = await execute(node, ["node_modules/knip/bin/knip.js"]);
  expect(code, stdout).toBe(0);
});

test("each file of src imports only what the rule of imports allows it (dependency-cruiser)", async () => {
  const cruise = "test/node_modules/dependency-cruiser/bin/dependency-cruiser.mjs";
  const args = [cruise, "src", "--config", "test/lint/imports.js"];
  const { code, stdout, stderr } = await execute(node, args);
  expect(code, stdout + stderr).toBe(0);
});

const sizes = execute(
  node,
  ["node_modules/size-limit/bin.js", "--json"],
  {},
  { cwd: path("test") },
);

test("the bundles are within their sizes in test/package.json", async () => {
  const { code, stdout, stderr } = await sizes;
  expect(code, stdout + stderr).toBe(0);
});

test("the sizes in the pages are those of size-limit", async () => {
  const measured: readonly { readonly name: string; readonly size: number }[] = JSON.parse(
    (await sizes).stdout,
  );
  const bytesOf = (name: string): number =>
    measured.find((each) => each.name === name)?.size ?? Number.NaN;
  const inKilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
  const sizeOf = (name: string): string => inKilobytes(bytesOf(name));
  const ky = sizeOf("calls, with ky and valibot inside");
  const straight = sizeOf("calls straight on fetch, with valibot inside");
  const withCarrier = (carrier: string) => sizeOf(`calls straight on fetch with ${carrier}Calls`);
  const client = inKilobytes(
    bytesOf("get of outdial/calls with Client of outdial/fetch") -
      bytesOf("get of outdial/calls, without ky"),
  );
  for (const [page, text] of [
    ["docs/entries.md", `| \`calls\` in a bundle, compressed | ${ky} | ${straight} |`],
    [
      "docs/entries.md",
      `\`Client\` of \`outdial/fetch\` beside \`get\` adds ${client} to a bundle`,
    ],
    ["docs/costs.md", `is ${straight} compressed, and of \`outdial\` ${ky}`],
    ["docs/twilio.md", `\`twilioCalls\` are ${withCarrier("twilio")}, minified`],
    ["docs/vonage.md", `\`vonageCalls\` are ${withCarrier("vonage")}, minified`],
    ["docs/telnyx.md", `\`telnyxCalls\` are ${withCarrier("telnyx")}, minified`],
  ] as const) {
    expect(readFileSync(path(page), "utf8"), page).toContain(text);
  }
});
