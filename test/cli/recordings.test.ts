import { once } from "node:events";
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { expect, onTestFinished, test } from "vitest";
import { createEmulator } from "../../src/emulator/index.ts";
import { carriers } from "../carriers/carriers.ts";
import { startEmulator } from "../carriers/stage.ts";
import { invoke } from "./cli.ts";
import { newFolder } from "./emulate.ts";

const secret = "a secret that was made at random";
const number = "+12025550161";

const script = `
export default {
  onAnswer: () => ({
    action: "record", prompts: ["Tell us why."], as: "why", next: "thanks", finish_on_key: "#",
  }),
  steps: { thanks: () => ({ action: "say", prompts: ["Thank you."] }) },
};`;

const services = [
  { name: "own", emulated: {}, account: undefined },
  ...carriers.map(({ name, emulated, service: { account } }) => ({ name, emulated, account })),
];

test.each(services)(
  "dial --recordings keeps what people say, and erase deletes it: $name",
  async ({ name, emulated, account }) => {
    const folder = newFolder();
    const { emulator, baseUrl } = await startEmulator({
      ...emulated,
      callee: [
        { type: "until-prompt" },
        { type: "say", text: "It was late.", ms: 2_000 },
        { type: "press", digits: "#" },
      ],
    });
    writeFileSync(join(folder, "people.csv"), `to_number\n${number}\n`);
    writeFileSync(join(folder, "script.mjs"), script);
    const env = {
      OUTDIAL_API_KEY: emulator.apiKey,
      SIGNING_SECRET: secret,
      ...(name !== "twilio" && { OUTDIAL_SIGNATURE_SECRET: emulator.webhookSecret }),
    };
    const audio = join(folder, "audio");
    const { code, stderr } = await invoke(
      [
        ...["dial", join(folder, "people.csv"), "--script", join(folder, "script.mjs")],
        ...["--from", "+12025550199", "--base-url", baseUrl, "--listen", "127.0.0.1:0"],
        ...["--window", "always", "--yes", "--recordings", audio],
        ...(account ? ["--service", name, "--account", account] : []),
      ],
      env,
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining(`recordings in ${audio}: 1\n`)]);
    const [file = "", ...others] = readdirSync(audio);
    expect(file).toMatch(/^1-1-why-[0-9a-f]{16}\.(wav|mp3)$/);
    expect(others).toEqual([]);
    expect(statSync(join(audio, file)).size).toBeGreaterThan(1_000);
    // Neither a telephone number nor a URL of the recording is printed or kept.
    expect(stderr).not.toMatch(/recordings?[/_].*(Signature|signature)=/);
    const ledger = join(folder, "people.outdial");
    const { stdout } = await invoke(["results", ledger, "--json"]);
    const [recordings = "", ...more]: string[] = JSON.parse(stdout).recordings;
    expect(recordings).toMatch(/^[\w-]+$/);
    expect(more).toEqual([]);
    expect(readFileSync(ledger, "latin1")).not.toMatch(/https?:[^\s]*record/i);
    const erase = () => invoke(["erase", ledger, number], { SIGNING_SECRET: secret });
    // A disk that is away would keep the file, whose name nobody would know any more.
    renameSync(audio, `${audio}-moved`);
    expect(await erase()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("a folder of recordings is away, and nobody was erased"),
    });
    renameSync(`${audio}-moved`, audio);
    const erased = await erase();
    expect(erased).toEqual({
      ...{ code: 0, stderr: "" },
      stdout: `1 erased\nfiles of recordings deleted: 1\nrecordings at the service, which you delete there: ${recordings}\n`,
    });
    expect(readdirSync(audio)).toEqual([]);
  },
);

test("what could not be fetched is told in the end, with the command that fetches it", async () => {
  const folder = newFolder();
  const emulator = createEmulator({
    callee: [{ type: "until-prompt" }, { type: "press", digits: "#" }],
    host: "127.0.0.1",
    speed: 100,
  });
  let isAway = true;
  const server = serve({
    fetch: (request) =>
      isAway && request.url.includes("/recordings/")
        ? new Response(null, { status: 403 })
        : emulator.fetch(request),
    hostname: "127.0.0.1",
    port: 0,
  });
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await emulator.close();
  });
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, "people.csv"), `to_number\n${number}\n`);
  writeFileSync(join(folder, "script.mjs"), script);
  const env = {
    OUTDIAL_API_KEY: emulator.apiKey,
    SIGNING_SECRET: secret,
    OUTDIAL_SIGNATURE_SECRET: emulator.webhookSecret,
  };
  const audio = join(folder, "audio");
  const { code, stderr } = await invoke(
    [
      ...["dial", join(folder, "people.csv"), "--script", join(folder, "script.mjs")],
      ...["--from", "+12025550199", "--base-url", baseUrl, "--listen", "127.0.0.1:0"],
      ...["--window", "always", "--yes", "--recordings", audio],
    ],
    env,
  );
  expect([code, readdirSync(audio)]).toEqual([0, []]);
  expect(stderr).toContain(`recordings in ${audio}: 0; not kept, only at the service: 1\n`);
  const [, command = ""] = /^outdial (recording .*)$/m.exec(stderr) ?? [];
  expect(command).toMatch(/^recording http\S+\/recordings\/cs_\w+-1\.wav --output /);
  expect(stderr).not.toMatch(/signature=/i);
  isAway = false;
  expect((await invoke(command.split(" "), env)).code).toBe(0);
  expect(readdirSync(audio)).toEqual([expect.stringMatching(/^1-1-why-[0-9a-f]{16}\.wav$/)]);
});

test.each([
  [["--flow", "https://app.test/flow"], "--recordings needs --script"],
  [["--script", "script.ts", "--emulate"], "--recordings needs --script"],
])("dial --recordings with %j is refused", async (flags, message) => {
  const { code, stderr } = await invoke(
    [
      ...["dial", "people.csv", "--from", "+12025550199", "--window", "always"],
      ...["--recordings", "audio", ...flags],
    ],
    {},
  );
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
