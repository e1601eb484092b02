import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { invoke } from "../cli/cli.ts";
import { startOperated } from "./asterisk/operated.ts";
import { from, to } from "./stage.ts";
import { Telephone } from "./telephone/telephone.ts";

const password = "s3cret; [odd]";

/** What `init` has written, and a trunk that is a telephone of the tests. */
const initialized = async (...more: readonly string[]) => {
  const trunk = await Telephone.open();
  onTestFinished(() => trunk.close());
  trunk.credentials = { user: "me", password };
  const folder = mkdtempSync(join(tmpdir(), "outdial-operated-"));
  const { code, stderr } = await invoke(
    [
      ...["exchange", "init", "--folder", folder, "--trunk", `${trunk.address}:${trunk.port}`],
      ...["--trunk-user", "me", "--number", from, "--allow", "+1202", ...more],
    ],
    { OUTDIAL_TRUNK_PASSWORD: password },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return { folder, trunk };
};

const started = async (folder: string) => {
  const asterisk = await startOperated(folder, inject("exchange").installed.root);
  onTestFinished(asterisk.kill);
  return asterisk;
};

/** What `check` says of each thing. */
const check = async (folder: string, ...more: readonly string[]) => {
  const args = ["exchange", "check", "--folder", folder, "--json", ...more];
  const { code, stdout, stderr } = await invoke(args);
  const lines = stdout.split("\n").filter(Boolean);
  const findings: { what: string; state: string; found: string }[] = lines.map((line) =>
    JSON.parse(line),
  );
  const of = (what: string) =>
    findings.filter((each) => each.what === what).map(({ state, found }) => `${state}: ${found}`);
  return { code, stderr, of };
};

test("what init writes is an Asterisk that check finds right, whose trunk registers and rings a telephone", async () => {
  const { folder, trunk } = await initialized();
  await started(folder);
  trunk.behave((call) => {
    call.ring();
    call.answer();
  });
  const { of } = await check(folder, "--call", to);
  expect({
    asterisk: of("Asterisk"),
    modules: of("modules"),
    trunk: of("trunk"),
    registration: of("registration"),
    events: of("events"),
    media: of("media"),
    log: of("channel log"),
    call: of("call"),
  }).toEqual({
    asterisk: [expect.stringMatching(/^ok: version 22\.\d+$/)],
    modules: [expect.stringMatching(/^ok: all \d+ run$/)],
    trunk: ["ok: answers"],
    registration: ["ok: the trunk has taken it"],
    events: ["ok: the socket opens"],
    media: ["ok: the socket opens"],
    log: ["ok: is written"],
    call: ["ok: it was answered, and hung up"],
  });
  expect(trunk.calls.map((call) => [call.from, call.to])).toEqual([[from, to]]);
  expect(await trunk.calls[0]?.ended).toBe("caller");
});

test("check names what is wrong: the trunk, the registration, a number that isn't allowed", async () => {
  const { folder, trunk } = await initialized();
  trunk.credentials = { user: "me", password: "another" };
  await started(folder);
  const { code, of } = await check(folder, "--call", "+33123456789");
  expect(code).toBe(1);
  expect(of("registration")).toEqual(["wrong: the trunk has refused it"]);
  expect(of("call")).toEqual(["wrong: refused: prefix_not_allowed"]);
  expect(trunk.calls).toEqual([]);
});
