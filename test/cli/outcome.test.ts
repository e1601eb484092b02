import { mkdtempSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { partOf } from "../part.ts";
import { outdial, runtimes, start, startInShell } from "./cli.ts";
import { json, type Service, serve } from "./service.ts";

// What a failure means is decided by how far the call had come: nothing sent, sent, placed.

const key = "ak_marked-key-5f1c";
const flags = ["--from", "+12025550199", "--to", "+12025550123"];
const urls = ["--flow", "https://app.test/flow", "--callback", "https://app.test/status"];
const call = ["call", ...flags, ...urls];
const accepted = json(202, { data: { id: "cs_1" } });

const services: Service[] = [];
const environment = async (answer: (response: ServerResponse) => void) => {
  const service = await serve(answer);
  services.push(service);
  return { OUTDIAL_API_KEY: key, OUTDIAL_BASE_URL: service.url };
};
afterEach(() => {
  for (const { close } of services.splice(0)) close();
});

const folder = mkdtempSync(join(tmpdir(), "outdial-"));

/** A module that is loaded before the command, and breaks something under it. */
const breaking = (name: string, code: string): string => {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, code);
  return file;
};

/** 202 with a body in which an array is nested more deeply than JSON can be written. */
const nested = (response: ServerResponse): void => {
  const depth = 200_000;
  response
    .writeHead(202)
    .end(`{"data":{"id":"cs_1","deep":${"[".repeat(depth)}${"]".repeat(depth)}}}`);
};

describe.each(partOf(runtimes))("under %s", (runtime) => {
  it("an answer that can't be written as JSON never hides that a call may have been placed", async () => {
    const { code, stdout, stderr } = await outdial(
      runtime,
      [...call, "--json"],
      await environment(nested),
    );
    // A parser that gives up at such a depth leaves the id unknown.
    if (code === 0) expect(JSON.parse(stdout).id).toBe("cs_1");
    else expect({ code, ...JSON.parse(stderr).error }).toMatchObject({ code: 3, placed: "maybe" });
  });

  it("an id of any length is printed whole, before the process ends", async () => {
    const id = "cs_".padEnd(900_000, "x");
    const ended = await outdial(runtime, call, await environment(json(202, { id })));
    expect({ ...ended, stdout: ended.stdout.length }).toEqual({
      code: 0,
      stdout: id.length + 1,
      stderr: "",
    });
  });

  it("an id that is no string is none: a call may have been placed", async () => {
    const answer = (response: ServerResponse) =>
      void response.writeHead(202).end('{"id":12345678901234567890}');
    const { code, stdout, stderr } = await outdial(
      runtime,
      [...call, "--json"],
      await environment(answer),
    );
    expect({ code, stdout, placed: JSON.parse(stderr).error.placed }).toEqual({
      code: 3,
      stdout: "",
      placed: "maybe",
    });
  });

  it("a call is placed although stdout is on a disk that is full, and stderr says which", async () => {
    const { ended } = startInShell(runtime, call, await environment(accepted), ">/dev/full");
    const stderr = "outdial: placed, but stdout cannot be written; the id is cs_1\n";
    expect(await ended).toEqual({ code: 0, stdout: "", stderr });
  });

  it.each([
    ["stdin and stdout are closed", "<&- >&-"],
    ["stdin and stderr are closed", "<&- 2>&-"],
  ])("a call is placed although %s", async (_, redirection) => {
    const { ended } = startInShell(runtime, call, await environment(accepted), redirection);
    const stdout = redirection.endsWith("2>&-") ? "cs_1\n" : "";
    expect(await ended).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("a call is placed although the reader of stdout has left", async () => {
    const gone = Promise.withResolvers<void>();
    const answer = (response: ServerResponse) => void gone.promise.then(() => accepted(response));
    const { child, ended } = start(runtime, call, await environment(answer));
    child.stdout?.destroy();
    gone.resolve();
    const stderr = "outdial: placed, but stdout cannot be written; the id is cs_1\n";
    expect(await ended).toEqual({ code: 0, stdout: "", stderr });
  });

  it("an unexpected error exits 1 before the request, without its message", async () => {
    const preload = breaking(
      "before",
      `Object.hasOwn = () => { throw new RangeError("${key}"); };`,
    );
    const ended = await outdial(runtime, call, await environment(accepted), { preload });
    expect(ended).toEqual({
      code: 1,
      stdout: "",
      stderr: "outdial: unexpected RangeError (no call was placed)\n",
    });
  });

  it("an unexpected error that nobody awaits exits 3 after the request", async () => {
    const preload = breaking(
      "after",
      `const { fetch } = globalThis;
      globalThis.fetch = (...args) => {
        if (args[1]?.method === "POST") setTimeout(() => { throw new RangeError("${key}"); }, 50);
        return fetch(...args);
      };`,
    );
    const ended = await outdial(runtime, call, await environment(() => {}), { preload });
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(
      /^outdial: unexpected RangeError \(a call may have been placed[^\n]*\n$/,
    );
  });

  it("ctrl-C with --json prints JSON, with what is known about the call", async () => {
    const arrived = Promise.withResolvers<void>();
    const env = await environment(() => arrived.resolve());
    const { child, ended } = start(runtime, [...call, "--json"], env);
    await arrived.promise;
    child.kill("SIGINT");
    const { code, stderr } = await ended;
    expect(code).toBe(3);
    expect(JSON.parse(stderr).error).toMatchObject({ exit: 3, placed: "maybe" });
  });

  it("the second ctrl-C ends it at once, and says that a call may have been placed", async () => {
    // What is being written keeps a process alive.
    const stuck = "process.stdout.write = () => !setInterval(() => {}, 60_000);";
    const preload = breaking("stuck", stuck);
    const arrived = Promise.withResolvers<void>();
    const env = await environment(() => arrived.resolve());
    const { child, says, ended } = start(runtime, call, env, { preload });
    await arrived.promise;
    child.kill("SIGINT");
    await says(/interrupted \(a call may have been placed/);
    child.kill("SIGINT");
    const { code, stderr } = await ended;
    expect(code).toBe(3);
    expect(stderr).toMatch(/\noutdial: interrupted twice \(a call may have been placed[^\n]*\n$/);
  });
});

it("Deno without --allow-net: the command ends by itself, although Deno waits for the body", async () => {
  const how = { allow: ["--allow-env"] };
  const { code, stderr } = await outdial("deno", call, await environment(accepted), how);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^outdial: [^\n]*--allow-net [^\n]*\(no call was placed\)\n$/);
});
