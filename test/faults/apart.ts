import { spawn, spawnSync } from "node:child_process";
import { text } from "node:stream/consumers";
import type { Runtime } from "../conformance/case.ts";
import type { Certificates } from "./certificates.ts";
import { type Ended, launch } from "./launch.ts";
import { serve } from "./serve.ts";
import { ownNetwork } from "./server/network.ts";
import type { Wanted } from "./table/index.ts";

/** What gives a command a network of its own: only a loopback, and that is down at first. */
const unshare = ["unshare", "--net", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"])];
const up = ["ip", "link", "set", "lo", "up"];

const [command = "", ...args] = unshare;

/** Why no process can have a network of its own here; nothing where it can. */
export const whyNotApart = (): string | undefined => {
  const { status, error, stderr } = spawnSync(command, [...args, ...up], { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr).trim();
};

/** Lets one runtime meet the faults that take the network away, in a network of its own. */
export const launchApart = async (
  runtime: Runtime,
  certificates: Certificates,
  wanted: Wanted,
): Promise<Ended> => {
  const given = JSON.stringify({ runtime, certificates, wanted, machine: ownNetwork() });
  const inside = spawn(command, [...args, process.execPath, import.meta.filename, given], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await text(inside.stdout));
};

if (import.meta.main) {
  const { runtime, certificates, wanted, machine } = JSON.parse(process.argv[2] ?? "");
  if (ownNetwork() === machine) throw new Error("this is the machine's own network");
  spawnSync("ip", up.slice(1), { stdio: "inherit" });
  const { control, stop } = await serve(certificates.folder, wanted, machine);
  console.log(JSON.stringify(await launch(runtime, control, certificates)));
  stop();
}
