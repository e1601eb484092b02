import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSecrets } from "../../../src/exchange/settings.ts";
import { freeAddress, loaderOf, ready } from "./asterisk.ts";
import { ports } from "./config.ts";

/** An Asterisk with the files of `outdial exchange init`. */
export interface OperatedAsterisk {
  readonly url: string;
  readonly process: ChildProcess;
  /** Kills it, and resolves once it is gone. */
  readonly kill: () => Promise<void>;
}

/** Changes a file. */
const edit = (file: string, change: (text: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, "utf8")));

/** A file with the folders of the system that has Asterisk's files: Asterisk itself looks in those of this machine. */
const withSystem = (text: string, root: string): string =>
  text.replace(
    "[directories]",
    [
      "[directories]",
      `astmoddir = ${root}/usr/lib/x86_64-linux-gnu/asterisk/modules`,
      `astvarlibdir = ${root}/usr/share/asterisk`,
      `astdatadir = ${root}/usr/share/asterisk`,
    ].join("\n"),
  );

/** A file with the address at which this Asterisk alone listens, and where it wants its audio. */
const withAddress = (text: string, address: string): string =>
  text
    .replace("0.0.0.0", address)
    .replace("type = endpoint", `type = endpoint\nmedia_address = ${address}`);

/**
 * Starts Asterisk with the files in a folder of `outdial exchange init`, as an operator does. What is changed before: its
 * addresses, as many run on this machine, and where Debian's files are.
 */
export const startOperated = async (folder: string, root: string): Promise<OperatedAsterisk> => {
  const address = await freeAddress();
  const url = `http://${address}:${ports.http}`;
  const etc = join(folder, "asterisk/etc");
  const program = [...loaderOf(root), `${root}/usr/sbin/asterisk`];
  const command = [...program, "-C", join(etc, "asterisk.conf")];
  edit(join(folder, "outdial-exchange.json"), (text) => {
    const settings = JSON.parse(text);
    return JSON.stringify({ ...settings, asterisk: { ...settings.asterisk, url, command } });
  });
  edit(join(etc, "http.conf"), (text) => text.replace("127.0.0.1", address));
  edit(join(etc, "pjsip.conf"), (text) => withAddress(text, address));
  edit(join(etc, "asterisk.conf"), (text) => withSystem(text, root));
  // Whatever ends this process ends Asterisk.
  const child = spawn("setpriv", ["--pdeathsig=KILL", "--", ...command, "-f"], {
    cwd: folder,
    stdio: "ignore",
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const { ariPassword } = readSecrets(folder);
  const credentials = Buffer.from(`outdial:${ariPassword}`).toString("base64");
  await ready(url, { Authorization: `Basic ${credentials}` }, child);
  const kill = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  return { url, process: child, kill };
};
