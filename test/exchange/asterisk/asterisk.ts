import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { channelLogName, filesOf, type Place, ports } from "./config.ts";

/** An Asterisk of the tests. */
export interface Asterisk {
  /** The origin of its HTTP server. */
  readonly url: string;
  readonly address: string;
  readonly user: string;
  readonly password: string;
  /** Where it writes which channels have started. */
  readonly channelLog: string;
  readonly process: ChildProcess;
  readonly stop: () => Promise<void>;
}

/** The user `nobody` and the group `nogroup` of Debian. */
const nobody = 65_534;

/** Asterisk's own loader and libraries: those of this machine are older. */
export const loaderOf = (root: string): readonly string[] => {
  const libraries = `${root}/usr/lib/x86_64-linux-gnu`;
  const path = `${libraries}:${root}/lib/x86_64-linux-gnu:${libraries}/pulseaudio`;
  return [`${root}/lib64/ld-linux-x86-64.so.2`, "--library-path", path];
};

/** The program that speaks, as the exchange's option takes it. */
export const speechOf = (root: string) => {
  const [command = "", ...loading] = loaderOf(root);
  const program = `${root}/usr/bin/espeak-ng`;
  const args = [
    ...loading,
    program,
    "--path",
    `${root}/usr/lib/x86_64-linux-gnu`,
    "-v",
    "en",
    "--stdin",
    "--stdout",
  ];
  return { command, args };
};

/** Whether nobody listens on a port of an address. */
const isFree = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });

/** An address of 127/8 that no other run has. */
export const freeAddress = async (): Promise<string> => {
  for (;;) {
    const [second, third] = [0, 0].map(() => 1 + Math.floor(Math.random() * 254));
    const address = `127.${second}.${third}.1`;
    if (await isFree(address, ports.http)) return address;
  }
};

/** How often an Asterisk that starts is asked whether it is ready, in milliseconds. */
const readyInterval = 50;

/** How long it may take until it is ready, in milliseconds: else a run of CI would wait for ever. */
const readyTimeout = 60_000;

/** Resolves once Asterisk answers, or rejects once it has ended or has taken too long. */
export const ready = async (
  url: string,
  headers: Record<string, string>,
  child: ChildProcess,
): Promise<void> => {
  let hasEnded = false;
  child.once("exit", () => {
    hasEnded = true;
  });
  const signal = AbortSignal.timeout(readyTimeout);
  while (!hasEnded && !signal.aborted) {
    const info = `${url}/ari/asterisk/info?only=status`;
    const response = await fetch(info, { headers, signal }).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, readyInterval));
  }
  const trouble = hasEnded ? "ended before it was ready" : "is not ready";
  throw new Error(`Asterisk ${trouble}: see log/messages in its folder`);
};

/** How long Asterisk may take to end by itself, in milliseconds: with open sockets it would take 16 s. */
const stopTimeout = 1_000;

/** Where an Asterisk is installed, and where it writes. */
export interface Installed {
  readonly root: string;
  /** A folder that others than this user may enter. */
  readonly temporary: string;
}

/**
 * Starts an Asterisk in a temporary folder, as `nobody`.
 *
 * @param before - one that has ended, whose place it takes
 * @param changed - the files that differ from those of an exchange that calls telephones without a trunk
 */
export const startAsterisk = async (
  { root, temporary }: Installed,
  before?: Pick<Asterisk, "address" | "password">,
  changed: (place: Place) => Readonly<Record<string, string>> = () => ({}),
): Promise<Asterisk> => {
  const folder = mkdtempSync(join(temporary, "asterisk-"));
  const address = before?.address ?? (await freeAddress());
  const password = before?.password ?? Math.random().toString(36).slice(2);
  const place: Place = { root, folder, address, password };
  // Asterisk makes no folder for its log of channels.
  const parts = ["etc", "run", "log", "log/cel-custom", "spool", "db", "keys", "tmp", "agi"];
  for (const part of parts) mkdirSync(join(folder, part));
  for (const [name, text] of Object.entries({ ...filesOf(place), ...changed(place) })) {
    writeFileSync(join(folder, "etc", name), text);
  }
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    chmodSync(folder, 0o755);
    for (const part of parts) chownSync(join(folder, part), nobody, nobody);
  }
  // Whatever ends this process ends Asterisk.
  const asNobody = isRoot ? [`--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"] : [];
  const program = [`${root}/usr/sbin/asterisk`, "-C", `${folder}/etc/asterisk.conf`, "-f"];
  const args = [...asNobody, "--pdeathsig=KILL", "--", ...loaderOf(root), ...program];
  const child = spawn("setpriv", args, { cwd: folder, stdio: "ignore" });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeout);
    await exited;
    clearTimeout(timer);
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://${address}:${ports.http}`;
  const credentials = Buffer.from(`outdial:${place.password}`).toString("base64");
  await ready(url, { Authorization: `Basic ${credentials}` }, child);
  const channelLog = join(folder, "log", "cel-custom", channelLogName);
  return { url, address, user: "outdial", password, channelLog, process: child, stop };
};
