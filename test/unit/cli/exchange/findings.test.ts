import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import {
  clockFindings,
  diskFinding,
  type Finding,
  listeningFindings,
  modulesFinding,
  printedBy,
  registrationFinding,
  trunkFinding,
  versionFinding,
} from "../../../../src/cli/exchange/findings.ts";
import { openPortsIn } from "../../../../src/cli/exchange/listening.ts";
import { asteriskModules } from "../../../../src/exchange/asterisk-files.ts";

const shown = ({ state, found }: Finding): string => `${state}: ${found}`;

/** Wrong findings without a next step leave an operator alone. */
const complete = (finding: Finding): string => {
  if (finding.state === "wrong") expect(finding.next).toBeTruthy();
  return shown(finding);
};

describe("check finds", () => {
  it.each([
    ["22.6.0", "ok: version 22.6"],
    ["22.10.1~dfsg", "ok: version 22.10"],
    ["23.0.0", "ok: version 23.0"],
    ["22.5.2", "wrong: version 22.5"],
    ["20.15.0", "wrong: version 20.15"],
    ["GIT-master", "unknown: does not say its version"],
  ])("Asterisk's version: %s", (version, expected) => {
    expect(complete(versionFinding({ system: { version } }))).toBe(expected);
  });

  it("the modules that don't run", () => {
    const running = asteriskModules.map((name) => ({ name: `${name}.so`, status: "Running" }));
    expect(shown(modulesFinding(running))).toBe(`ok: all ${running.length} run`);
    const [first, ...rest] = running;
    expect(complete(modulesFinding(rest))).toBe(`wrong: ${asteriskModules[0]} do not run`);
    const stopped = [{ ...first, status: "Not Running" }, ...rest];
    expect(complete(modulesFinding(stopped))).toBe(`wrong: ${asteriskModules[0]} do not run`);
    expect(complete(modulesFinding(undefined))).toMatch(/ and others do not run$/);
  });

  it("a trunk that is missing, or doesn't answer", () => {
    expect(shown(trunkFinding(200, { state: "online" }))).toBe("ok: answers");
    expect(complete(trunkFinding(200, { state: "offline" }))).toMatch(/^wrong: does not answer/);
    expect(complete(trunkFinding(404, {}))).toBe("wrong: Asterisk has none");
  });

  it.each([
    ["trunk/sip:h:5060     trunk    Registered   (exp. 240s)", "ok: the trunk has taken it"],
    ["trunk/sip:h:5060     trunk    Rejected     (exp. 4s)", "wrong: the trunk has refused it"],
    ["trunk/sip:h:5060     trunk    Unregistered", "wrong: the trunk has not answered it"],
    ["No objects found.", "wrong: Asterisk has none"],
    [undefined, "unknown: Asterisk's program can't be asked here"],
  ])("a registration: %s", (printed, expected) => {
    expect(complete(registrationFinding(printed))).toBe(expected);
  });

  it("a clock that isn't synchronized, or differs from Asterisk's", () => {
    const now = Date.UTC(2026, 10, 28, 12);
    const date = new Date(now - 1_500).toUTCString();
    expect(clockFindings(now, date, "yes\n").map(complete)).toEqual(["ok: is synchronized"]);
    expect(clockFindings(now + 60_000, date, "no\n").map(complete)).toEqual([
      "wrong: differs from that of Asterisk's machine",
      "wrong: is not synchronized",
    ]);
    expect(clockFindings(now, null, undefined).map(({ state }) => state)).toEqual(["unknown"]);
  });

  it("a disk without room for recordings", async () => {
    const recordings = { folder: "recordings", days: 30, megabytes: 1_000_000_000 };
    expect(complete(await diskFinding(tmpdir(), { recordings }))).toMatch(
      /^wrong: \d+ MB are free/,
    );
    expect(
      shown(await diskFinding(tmpdir(), { recordings: { ...recordings, megabytes: 1 } })),
    ).toMatch(/^ok: \d+ MB are free$/);
  });
});

describe("the open ports of a machine", () => {
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0100007F:1F98 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1",
    "   1: 00000000:13AE 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2",
    "   2: 08080808:1F98 01010101:01BB 01 00000000:00000000 00:00000000 00000000     0        0 3",
  ].join("\n");
  const table6 = [
    "   0: 00000000000000000000000000000000:1F98 0:0000 0A 0",
    "   1: 00000000000000000000000001000000:0FAB 0:0000 0A 0",
    "   2: 0000000000000000FFFF00000100007F:0FAC 0:0000 0A 0",
  ].join("\n");

  it("are read as the kernel writes them", () => {
    expect(openPortsIn(table)).toEqual([
      { address: "127.0.0.1", port: 8088 },
      { address: "0.0.0.0", port: 5038 },
    ]);
    expect(openPortsIn(table6)).toEqual([
      { address: "::", port: 8088 },
      { address: "::1", port: 4011 },
      { address: "127.0.0.1", port: 4012 },
    ]);
  });

  it("that everybody may reach and should not are named", () => {
    const settings = {
      asterisk: {
        url: "http://127.0.0.1:8088",
        user: "outdial",
        app: "outdial",
        command: ["asterisk"],
      },
      listen: { host: "127.0.0.1", port: 4011 },
      pages: { host: "127.0.0.1", port: 4012 },
    };
    const found = (address: string, port: number) =>
      listeningFindings([{ address, port }], settings).map(complete);
    const fine = ["ok: nothing is open that should not be"];
    expect(found("127.0.0.1", 8088)).toEqual(fine);
    expect(found("10.0.0.1", 8088)).toEqual(fine);
    expect(found("0.0.0.0", 5060)).toEqual(fine);
    for (const [address, port, name] of [
      ["0.0.0.0", 8088, "Asterisk's REST interface"],
      ["::", 5038, "Asterisk's manager"],
      ["8.8.8.8", 4012, "the pages"],
      ["2606:4700::1111", 4011, "the API in plain http"],
    ] as const) {
      expect(found(address, port)).toEqual([`wrong: everybody may reach ${name} at port ${port}`]);
    }
    expect(listeningFindings(undefined, settings).map(({ state }) => state)).toEqual(["unknown"]);
  });
});

it("what a program prints is nothing where it fails, or isn't there", async () => {
  expect(await printedBy([process.execPath, "-p"], "1 + 1")).toBe("2\n");
  expect(await printedBy([process.execPath], "-e", "process.exit(1)")).toBeUndefined();
  expect(await printedBy(["/no/such/program"])).toBeUndefined();
});
