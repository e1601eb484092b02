import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterEach, expect, test } from "vitest";
import { until } from "../bridge/service.ts";
import { path } from "../examples/execute.ts";
import { listOf } from "./csv.ts";

const script = "test/campaign/run.ts";

let child: ChildProcess | undefined;

afterEach(() => {
  child?.kill("SIGKILL");
});

/** `npm run campaign` without its build, which would be under the feet of the other tests. */
const start = async () => {
  const started = spawn(process.execPath, [path(script)], { stdio: ["ignore", "pipe", "inherit"] });
  child = started;
  let said = "";
  started.stdout.on("data", (chunk) => {
    said += chunk;
  });
  await until("it has said how it is used", async () => said.includes("Ctrl-C ends it"));
  const [, url = ""] = /page +(http:\S+)/.exec(said) ?? [];
  const [, token = ""] = /token +(\S+)/.exec(said) ?? [];
  const ended = new Promise((resolve) => started.once("exit", resolve));
  return { child: started, url, token, ended };
};

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

test("npm run campaign serves the page and calls a list; ctrl-C ends all of it", async () => {
  const { scripts } = JSON.parse(readFileSync(path("package.json"), "utf8"));
  expect(scripts.campaign).toMatch(new RegExp(`^tsup .*&& node test/node24.js ${script}$`));
  const { child, url, token, ended } = await start();
  const page = await fetch(url);
  expect(page.headers.get("Content-Type")).toMatch(/^text\/html/);
  const ask = async (method: string, where: string, body?: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(url + where, { method, headers, ...(body && { body }) });
    return response.json();
  };
  const plan = { rate: 10, concurrency: 10, window: "always" };
  const { id } = await ask("POST", "/campaigns", JSON.stringify(plan));
  await ask("PUT", `/campaigns/${id}/contacts`, listOf(["+12025550100", "+12025550101"]));
  await ask("POST", `/campaigns/${id}/start`);
  const progress = () => ask("GET", `/campaigns/${id}/progress`);
  await until("everybody has been called", async () => (await progress()).done);
  expect(await progress()).toMatchObject({ completed: 1, busy: 1 });
  child.kill("SIGINT");
  expect(await ended).toBe(0);
  expect(await answers(url)).toBe(false);
});

test("npm run campaign leaves no runtime behind, also when it is killed", async () => {
  const { child, url, ended } = await start();
  child.kill("SIGKILL");
  await ended;
  await until("its port is free", async () => !(await answers(url)));
});
