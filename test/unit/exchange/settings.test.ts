import { chmodSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BadParametersException } from "../../../src/errors.ts";
import {
  newSecrets,
  readSecrets,
  readSettings,
  secretsFile,
  settingsFile,
  settingsOf,
  writeSecrets,
} from "../../../src/exchange/settings.ts";

const settings = {
  asterisk: {
    url: "http://127.0.0.1:8088",
    user: "outdial",
    app: "outdial",
    command: ["/usr/sbin/asterisk"],
  },
  trunk: { host: "sip.example.net", transport: "udp", user: "me", registers: true },
  numbers: ["+12025550199"],
  allow: ["+1202"],
};

/** What is wrong, as the exception lists it. */
const issuesOf = (work: () => unknown): readonly string[] => {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof BadParametersException)) throw error;
    return error.issues.map(({ param, message }) => `${param} ${message}`);
  }
};

const newFolder = (): string => mkdtempSync(join(tmpdir(), "outdial-settings-"));

describe("the settings of an exchange", () => {
  it("have defaults for what may be left out", () => {
    expect(settingsOf(settings)).toMatchObject({
      ...settings,
      listen: { host: "127.0.0.1", port: 4011 },
      pages: { host: "127.0.0.1", port: 4012 },
      limits: { callsPerSecond: 1, callsAtOnce: 10, minutesPerDay: 600, minutesPerDayToNumber: 60 },
      privateOrigins: [],
    });
  });

  it("allow nobody without a prefix", () => {
    const { allow: _, ...rest } = settings;
    expect(issuesOf(() => settingsOf(rest))).toEqual(["allow is missing"]);
    expect(settingsOf({ ...settings, allow: [] }).allow).toEqual([]);
  });

  it.each([
    [{ allow: ["+4"] }, "allow must be a list of prefixes"],
    [{ allow: "+1202" }, "allow must be a list of prefixes"],
    [{ numbers: ["12025550199"] }, "numbers must be a list of E.164 numbers"],
    [{ numers: [] }, "numers is unknown: did you mean numbers?"],
    [{ listen: { host: "127.0.0.1", port: "4011" } }, "listen.port must be a whole number"],
    [{ listen: { host: "a b", port: 1 } }, "listen.host must be the name or the address"],
    [{ limits: { callsPerSecond: 0 } }, "limits.callsPerSecond must be a number above 0"],
    [{ baseUrl: "https://calls.example.com/api" }, "baseUrl must be an origin"],
    [{ baseUrl: "calls.example.com" }, "baseUrl must be an origin"],
    [{ privateOrigins: ["10.0.0.5:3000"] }, "privateOrigins must be a list of origins"],
    [
      { privateOrigins: ["http://10.0.0.5:8088"] },
      "privateOrigins must not have the port of Asterisk",
    ],
    [{ pages: { host: "127.0.0.1", port: 4011 } }, "pages must be another address"],
    [{ trunk: { ...settings.trunk, host: "sip.example.net\n[x]" } }, "trunk.host must be the name"],
    [
      { asterisk: { ...settings.asterisk, url: "http://8.8.8.8:8088" } },
      "asterisk.url must be on this machine, or on a private link",
    ],
    [{ trunk: { ...settings.trunk, user: "me;x" } }, "trunk.user must be letters"],
    [
      { trunk: { ...settings.trunk, transport: "sctp" } },
      "trunk.transport must be udp, tcp or tls",
    ],
    [{ speech: "espeak-ng" }, "speech must be { command, args }"],
    [{ store: "" }, "store must be the path of a file"],
  ])("refuse by the name of the rule: %j", (wrong, message) => {
    const issues = issuesOf(() => settingsOf({ ...settings, ...wrong }));
    expect(issues).toContainEqual(expect.stringContaining(message));
  });

  it("are read from their file, which is named when it is missing or no JSON", () => {
    const folder = newFolder();
    expect(issuesOf(() => readSettings(folder))).toEqual([
      `${settingsFile} is missing or can't be read: run outdial exchange init, or pass --folder`,
    ]);
    writeFileSync(join(folder, settingsFile), "{,}");
    expect(issuesOf(() => readSettings(folder))).toEqual([
      `${settingsFile} must be JSON: look for a comma`,
    ]);
    writeFileSync(join(folder, settingsFile), JSON.stringify(settings));
    expect(readSettings(folder)).toMatchObject(settings);
  });
});

describe("the secrets of an exchange", () => {
  it("are random, and in a file of this user alone", () => {
    const folder = newFolder();
    const secrets = newSecrets();
    expect(secrets.ariPassword).not.toBe(newSecrets().ariPassword);
    writeSecrets(folder, secrets);
    expect(statSync(join(folder, secretsFile)).mode & 0o777).toBe(0o600);
    expect(readSecrets(folder)).toEqual(secrets);
    const accounts = { twilio: { account: "AC1", apiKey: "0123456789abcdef" } };
    writeSecrets(folder, { ...secrets, accounts });
    expect(readSecrets(folder).accounts).toEqual(accounts);
  });

  it.each([0o640, 0o604, 0o620])("are refused when others may use the file: mode %o", (mode) => {
    const folder = newFolder();
    writeSecrets(folder, newSecrets());
    chmodSync(join(folder, secretsFile), mode);
    expect(issuesOf(() => readSecrets(folder))).toEqual([
      `${secretsFile} may be read by other users: chmod 600 ${secretsFile}`,
    ]);
  });

  it("are never in a message", () => {
    const folder = newFolder();
    writeSecrets(folder, { ...newSecrets(), ariPassword: "short", webhookSecret: "whsec_short" });
    expect(issuesOf(() => readSecrets(folder))).toEqual([
      "ariPassword must be 16 to 128 letters, digits, - and _",
      'webhookSecret must be "whsec_" and base64 of 24 to 64 bytes',
    ]);
  });
});
