import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { begin, type Running } from "./cli.ts";

export const from = "+12025550199";
export const answering = "+12025550100";

/** A folder until the test is over. */
export const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

/** Starts a command that is interrupted when the test is over. */
export const beginUntilEnd = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Running => {
  const running = begin(args, env);
  onTestFinished(async () => {
    running.kill("SIGTERM");
    await running.ended;
  });
  return running;
};

/** A server on loopback until the test is over, and where it is. */
export const serveUntilEnd = async (listener: RequestListener) => {
  // A server that closes an idle connection may lose the POST that is on its way.
  const server = createServer({ keepAliveTimeout: 0 }, listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** What a shell command prints. */
export const inShell = async (line: string): Promise<string> =>
  (await promisify(execFile)("sh", ["-c", line])).stdout;

/** An emulator of a carrier in this process, whose account is in a folder, and what it prints. */
export const emulate = async (
  service: string,
  account: string,
  folder: string,
  ...args: readonly string[]
) => {
  const flags = ["--service", service, "--account", account, "--speed", "50", ...args];
  const emulator = beginUntilEnd(["emulator", "--port", "0", ...flags], { XDG_STATE_HOME: folder });
  const text = await emulator.says(/^(echo |OUTDIAL_API_KEY=).*\n/m);
  return {
    ...emulator,
    text,
    /** What stands after a name. */
    field: (name: string) => new RegExp(`${name} +(.+)\\n`).exec(text)?.[1] ?? "",
    /** The line that places a call. */
    line: /^(echo |OUTDIAL_API_KEY=).*$/m.exec(text)?.[0] ?? "",
  };
};

/** Waits until so many calls are over, and their applications know. */
export const untilNotified = (emulator: Running, calls = 1): Promise<string> =>
  emulator.says(new RegExp("notified +completed, delivered.*\\n[^]*?".repeat(calls)));

/** What a dashboard shows and answers to whoever opens its link. */
export const openDashboard = async (link: string) => {
  const { origin } = new URL(link);
  const [cookie = ""] = (await fetch(link)).headers.get("set-cookie")?.split(";") ?? [];
  const headers = { cookie, origin };
  const post = async (path: string, body?: object) => {
    const init = { method: "POST", headers, ...(body && { body: JSON.stringify(body) }) };
    return (await fetch(`${origin}/dashboard/${path}`, init)).json();
  };
  const sampleTo = (to_number: string) => ({
    ...{ from_number: from, to_number, flow_url: `${origin}/sample/flow` },
    status_callback_url: `${origin}/sample/status`,
  });
  return {
    page: await (await fetch(origin, { headers })).text(),
    post,
    place: (to_number: string) => post("calls", sampleTo(to_number)),
    commandFor: (to_number: string) => post("command", sampleTo(to_number)),
  };
};
