import { existsSync, lstatSync, readFileSync } from "node:fs";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { asteriskFiles, asteriskFolders, channelLogFile } from "../../exchange/asterisk-files.ts";
import {
  type ExchangeSecrets,
  newSecrets,
  readSecrets,
  secretsFile,
  settingsDefaults,
  settingsFile,
  settingsOf,
} from "../../exchange/settings.ts";
import { type Environment, exits, Failure, type Host, UsageError } from "../command.ts";
import { installedFrom, specOf } from "../init/source.ts";
import { codeOf, jsonLine } from "../terminal.ts";
import type { ExchangeFlags } from "./flags.ts";
import type { Asked } from "./questions.ts";
import { startingFiles } from "./units.ts";

/** Where the trunk's password is, if it isn't asked for. */
const passwordVariable = "OUTDIAL_TRUNK_PASSWORD";

/** @throws {UsageError} when the file can't be read, or others may read it */
const passwordIn = (file: string | undefined, env: Environment): string | undefined => {
  if (file === undefined) return env[passwordVariable] || undefined;
  try {
    if (lstatSync(file).mode & 0o077 && process.platform !== "win32") {
      throw new UsageError("--trunk-password-file may be read by other users: chmod 600 it");
    }
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError("--trunk-password-file can't be read");
  }
};

/** @throws {UsageError} for a name without a password: the trunk would refuse it */
const withPassword = (asked: Asked): Asked => {
  if (asked.user === "" || asked.password !== "") return asked;
  throw new UsageError(
    `the trunk's password is missing: set ${passwordVariable}, or pass --trunk-password-file`,
  );
};

/** What the trunk is, of flags and answers. */
const askedOf = async (flags: ExchangeFlags, host: Host): Promise<Asked> => {
  const known = {
    host: flags.trunk,
    user: flags["trunk-user"],
    password: passwordIn(flags["trunk-password-file"], host.env),
    registers: flags["by-address"] ? false : undefined,
    numbers: flags.number,
    allow: flags.allow,
  };
  if (!flags.json && host.terminal.isInteractive) {
    const { askTrunk } = await import("./questions.ts");
    return withPassword(await askTrunk(known, host.signal));
  }
  const { host: trunk, user = "", password = "", numbers, allow = [] } = known;
  if (trunk === undefined || numbers === undefined) {
    const missing = [...(trunk === undefined ? ["--trunk"] : []), ...(numbers ? [] : ["--number"])];
    throw new UsageError(`${missing.join(", ")} ${missing.length > 1 ? "are" : "is"} missing`);
  }
  const registers = known.registers ?? user !== "";
  return withPassword({ host: trunk, user, password, registers, numbers, allow });
};

/** The secrets of before, so that a new configuration leaves accounts and signatures as they are. */
const secretsFor = (folder: string): ExchangeSecrets =>
  existsSync(join(folder, secretsFile)) ? readSecrets(folder) : newSecrets();

/** The program that speaks, where it is found. */
const speechFor = (named: string | undefined) =>
  named === undefined ? undefined : { command: named, args: ["--stdin", "--stdout"] };

const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port > 0 && port < 2 ** 16) return port;
  throw new UsageError("--port must be a number from 1 to 65535");
};

/** Where Asterisk's HTTP server is: on loopback, where nobody else reaches its media sockets. */
const http = { host: "127.0.0.1", port: 8088 } as const;
const ariUser = "outdial";

/** All files, by their paths from the folder. */
const filesOf = (
  folder: string,
  flags: ExchangeFlags,
  asked: Asked,
): Readonly<Record<string, string>> => {
  const { host, user, password, registers, numbers, allow } = asked;
  const { port, transport = "udp", asterisk = "/usr/sbin/asterisk", speech } = flags;
  const own = join(folder, "asterisk");
  const [, trunkHost = host, trunkPort] = /^([^:]+):(\d+)$/.exec(host) ?? [];
  const listen =
    port === undefined ? settingsDefaults.listen : { host: "127.0.0.1", port: portOf(port) };
  const settings = settingsOf({
    listen,
    pages: { ...settingsDefaults.pages, port: listen.port + 1 },
    ...(flags["base-url"] !== undefined && { baseUrl: flags["base-url"] }),
    asterisk: {
      url: `http://${http.host}:${http.port}`,
      user: ariUser,
      app: "outdial",
      command: [asterisk, "-C", join(own, "etc/asterisk.conf")],
      channelLog: join("asterisk", channelLogFile),
    },
    trunk: {
      host: trunkHost,
      ...(trunkPort !== undefined && { port: Number(trunkPort) }),
      transport,
      ...(user && { user }),
      registers,
    },
    numbers,
    allow,
    limits: settingsDefaults.limits,
    privateOrigins: flags["private-origin"] ?? [],
    ...(speech !== undefined && { speech: speechFor(speech) }),
    recordings: settingsDefaults.recordings,
  });
  const secrets = secretsFor(folder);
  const conf = asteriskFiles({
    folder: own,
    http,
    user: ariUser,
    password: secrets.ariPassword,
    trunk: settings.trunk,
    trunkPassword: password || undefined,
    externalAddress: flags["external-address"],
  });
  const source = installedFrom();
  const { username, uid, gid } = userInfo();
  const { execPath, argv } = process;
  const starting = startingFiles({
    folder,
    asterisk,
    command: [execPath, resolve(argv[1] ?? "outdial")],
    spec: source ? specOf(source).replace(/^(?=[\^~\d])/, "outdial@") : "outdial",
    ...{ user: username, uid, gid, closeTimeout: settings.closeTimeout },
  });
  return {
    [settingsFile]: `${JSON.stringify(settings, null, 2)}\n`,
    [secretsFile]: `${JSON.stringify(secrets, null, 2)}\n`,
    ...Object.fromEntries(
      Object.entries(conf).map(([name, text]) => [join("asterisk/etc", name), text]),
    ),
    ...starting,
  };
};

/** Writes a file that only this user may read: most have a password. */
const writePrivate = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}`;
  await writeFile(beside, text, { flag: "wx", mode: 0o600 });
  await chmod(beside, 0o600);
  await rename(beside, file);
};

const overwriting = (names: readonly string[]): Failure => {
  const verb = names.length > 1 ? "exist" : "exists";
  return new Failure(
    `${names.join(", ")} ${verb}, and nothing was written: name a new folder, or pass --force to overwrite (secrets stay)`,
    exits.refused,
  );
};

const steps = (folder: string): readonly string[] => [
  "Next:",
  "",
  `  sudo cp ${folder}/outdial-*.service /etc/systemd/system/`,
  "  sudo systemctl daemon-reload",
  "  sudo systemctl enable --now outdial-asterisk",
  `  outdial exchange check --folder ${folder}`,
  "  sudo systemctl enable --now outdial-exchange",
  "",
  `or: docker compose -f ${folder}/compose.yaml up -d`,
];

/**
 * Writes what an exchange needs into a folder.
 *
 * @throws {Failure} when files exist, or can't be written
 * @throws {BadParametersException} for a setting that breaks its rule
 */
export const initExchange = async (flags: ExchangeFlags, host: Host): Promise<void> => {
  const folder = resolve(flags.folder ?? ".");
  const isNew = !existsSync(join(folder, settingsFile));
  if (!isNew && !flags.force) throw overwriting([settingsFile]);
  const files = filesOf(folder, flags, await askedOf(flags, host));
  const present = Object.keys(files).filter((name) => existsSync(join(folder, name)));
  if (isNew && !flags.force && present.length > 0) throw overwriting(present.slice(0, 5));
  try {
    for (const each of asteriskFolders) {
      await mkdir(join(folder, "asterisk", each), { recursive: true, mode: 0o700 });
    }
    await mkdir(join(folder, "asterisk/log/cel-custom"), { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(files)) await writePrivate(join(folder, name), text);
  } catch (error) {
    throw new Failure(`${folder} can't be written (${codeOf(error) ?? "error"})`, exits.refused);
  }
  const names = Object.keys(files);
  const line = flags.json && jsonLine({ folder, files: names });
  const own = names.filter((name) => !name.startsWith("asterisk/"));
  const all = [...own, "asterisk/etc"].map((name) => `created  ${name}`);
  await host.terminal.print(line || [...all, "", ...steps(folder)].join("\n"));
};
