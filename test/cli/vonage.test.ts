import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Auth } from "@vonage/auth";
import { verifySignature } from "@vonage/jwt";
import { Voice } from "@vonage/voice";
import { expect, it } from "vitest";
import { pem, publicKey } from "../unit/vonage/keys.ts";
import { invoke } from "./cli.ts";
import { answering, emulate, from, newFolder, serveUntilEnd, untilNotified } from "./emulate.ts";

const account = "78d335fa-323d-0114-9c3d-d6f0d48968cf";
const urls = ["--flow", "https://app.test/flow", "--callback", "https://app.test/status"];
const byFlags = ["--service", "vonage", "--account", account];
const call = ["call", "--from", from, "--to", answering, ...urls, ...byFlags];

/** What Vonage is: a server on loopback, which keeps the tokens that it received. */
const startVonage = async () => {
  const tokens: string[] = [];
  const { url } = await serveUntilEnd((request, response) => {
    tokens.push((request.headers.authorization ?? "").replace("Bearer ", ""));
    response.writeHead(201, { "content-type": "application/json" }).end('{"uuid":"uuid-1"}');
  });
  return { tokens, baseUrl: url };
};

const spki = String(publicKey.export({ type: "spki", format: "pem" }));

it.each<[string, (file: string) => [flags: string[], env: Record<string, string>]]>([
  ["a variable on one line", () => [[], { OUTDIAL_API_KEY: pem.replaceAll("\n", "\\n") }]],
  ["a file that a flag names", (file) => [["--key-file", file], {}]],
  ["a file that the environment names", (file) => [[], { OUTDIAL_KEY_FILE: file }]],
])("outdial call places a call with the private key of %s", async (_, given) => {
  const { tokens, baseUrl } = await startVonage();
  const file = join(newFolder(), "private.key");
  writeFileSync(file, pem);
  const [flags, env] = given(file);
  const ended = await invoke([...call, "--base-url", baseUrl, ...flags], env);
  expect(ended).toEqual({ code: 0, stdout: "uuid-1\n", stderr: "" });
  expect(tokens.map((token) => verifySignature(token, spki))).toEqual([true]);
});

it.each<[string[], Record<string, string>, string]>([
  [[], { OUTDIAL_API_KEY: "no-pem-at-all" }, "OUTDIAL_API_KEY must be the application's"],
  [["--key-file", "/nowhere/a"], {}, "--key-file cannot be read (ENOENT)"],
  [["--key-file", "test/cli/cli.ts"], {}, "--key-file must be the application's"],
])("outdial call with %j and %j exits 2, and sends nothing", async (flags, more, words) => {
  const { tokens, baseUrl } = await startVonage();
  const env = { OUTDIAL_API_KEY: pem, ...more };
  const { code, stdout, stderr } = await invoke([...call, ...flags, "--base-url", baseUrl], env);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain(pem.slice(100, 140));
  expect(tokens).toEqual([]);
});

it("outdial emulator is what Vonage's own client calls, and its webhooks have the printed signature", async () => {
  const emulator = await emulate("vonage", account, newFolder());
  let token = "";
  const { url } = await serveUntilEnd((request, response) => {
    token = (request.headers.authorization ?? "").replace("Bearer ", "");
    response.writeHead(204).end();
  });
  const privateKey = emulator.field("private key").replace(/ (?!PRIVATE|KEY)/g, "\n");
  const auth = new Auth({ applicationId: account, privateKey });
  const client = new Voice(auth, { apiHost: emulator.field("base URL") });
  await client.createOutboundCall({
    to: [{ type: "phone", number: "12025550100" }],
    from: { type: "phone", number: "12025550199" },
    ncco: [{ action: "talk", text: "Hello" }],
    event_url: [`${url}/events`],
  } as never);
  await untilNotified(emulator);
  expect(verifySignature(token, emulator.field("signs with"))).toBe(true);
});
