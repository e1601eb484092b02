import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { create } from "../../src/calls/index.ts";
import { serveNode } from "../../src/cli/serve.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { begin, invoke } from "./cli.ts";

const application = "1494404757140276705";
const numbers = { from_number: "+12025550199", to_number: "+12025550100" };
const urls = { flow_url: "https://app.test/flow", status_callback_url: "https://app.test/status" };

/** An emulator on a port, and the environment of the command for it. */
const emulate = async (options: EmulatorOptions) => {
  const emulator = createEmulator({
    fetch: (request) =>
      request.url.endsWith("/flow")
        ? Response.json({ action: "hangup" })
        : new Response(null, { status: 204 }),
    ...options,
  });
  const { port, stop } = await serveNode((request) => emulator.fetch(request), {
    ...{ hostname: "127.0.0.1", port: 0 },
  });
  onTestFinished(async () => {
    await emulator.close();
    await stop();
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  const env = { OUTDIAL_API_KEY: emulator.apiKey, OUTDIAL_BASE_URL: baseUrl };
  return { emulator, env, options: { apiKey: emulator.apiKey, baseUrl } };
};

it("outdial get prints a call as JSON, and outdial end ends it, again and again", async () => {
  const { emulator, env, options } = await emulate({ ringDuration: 600_000 });
  const { id } = await create({ ...numbers, ...urls }, options);
  const got = await invoke(["get", id], env);
  expect(got).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(got.stdout)).toMatchObject({ id, state: "ringing", ...numbers });
  const done = { code: 0, stdout: "", stderr: "" };
  expect(await invoke(["end", id], env)).toEqual(done);
  expect((await emulator.ended(id)).reason).toBe("canceled");
  expect(await invoke(["end", id], env)).toEqual(done);
});

it("outdial why says what failed and what to do, without a number, and as JSON with --json", async () => {
  const { emulator, env, options } = await emulate({
    clock: "instant",
    fetch: () => new Response(null, { status: 401, headers: { "outdial-refused": "wrong_token" } }),
  });
  const { id } = await create({ ...numbers, ...urls }, options);
  await emulator.ended(id);
  const text = "step 1: flow_url answered HTTP 401 (outdial-refused: wrong_token)";
  const told = await invoke(["why", id], env);
  expect(told).toMatchObject({ code: 0, stderr: "" });
  expect(told.stdout.split("\n")).toEqual([
    "completed (flow_error)",
    `error: ${text}`,
    expect.stringMatching(/^The call was answered, but .*publicUrl\.$/),
    "",
  ]);
  const { stdout } = await invoke(["why", id, "--json"], env);
  expect(JSON.parse(stdout)).toMatchObject({ id, causes: [{ text, level: "error" }] });
  expect(told.stdout + stdout).not.toContain("2025550");
  const unknown = await invoke(["why", `${id}0`, "--json"], env);
  expect([unknown.code, unknown.stdout]).toEqual([1, ""]);
  expect(JSON.parse(unknown.stderr)).toMatchObject({ error: { code: 404 } });
});

it("outdial end says that there is no such call", async () => {
  const { env } = await emulate({});
  const { code, stdout, stderr } = await invoke(["end", "cs_none"], env);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^outdial: HTTP 404 .*\(the call was not ended\)\n$/);
});

it("outdial recording writes a new file, and replaces none", async () => {
  const { emulator, env, options } = await emulate({ clock: "instant" });
  const { id } = await create({ ...numbers, ...urls }, options);
  const { recording_url = "" } = await emulator.ended(id);
  const file = join(mkdtempSync(join(tmpdir(), "outdial-recording-")), "call.wav");
  const args = ["recording", recording_url, "-o", file];
  expect(await invoke(args, env)).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(readFileSync(file).subarray(0, 4).toString()).toBe("RIFF");
  writeFileSync(file, "mine");
  expect(await invoke(args, env)).toMatchObject({ code: 1 });
  expect(readFileSync(file, "utf8")).toBe("mine");
});

it("outdial recording sends nothing to a host that it doesn't know", async () => {
  const { env } = await emulate({});
  const file = join(tmpdir(), "outdial-no-recording.wav");
  const { code, stderr } = await invoke(["recording", "https://evil.test/a", "-o", file], env);
  expect(code).toBe(2);
  expect(stderr).toContain("--host must have the URL's host");
  expect(existsSync(file)).toBe(false);
});

it("with Telnyx, outdial get names what it needs, and OUTDIAL_ACCOUNT_SID gives it", async () => {
  const service = { name: "telnyx", account: application };
  const { emulator, env } = await emulate({ service, ringDuration: 600_000 });
  const { telnyx } = await import("../../src/carriers/telnyx/index.ts");
  const { id } = await create(
    { ...numbers, ...urls },
    {
      service: telnyx({ applicationId: application }),
      ...{ apiKey: emulator.apiKey, baseUrl: env.OUTDIAL_BASE_URL },
    },
  );
  const own = { ...env, OUTDIAL_SERVICE: "telnyx", OUTDIAL_ACCOUNT: application };
  const refused = await invoke(["get", id], own);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining("OUTDIAL_ACCOUNT_SID"),
  ]);
  const sid = { ...own, OUTDIAL_ACCOUNT_SID: "f5586561-8ff0-4291-a51b-c7dfe4139ff9" };
  const { stdout } = await invoke(["get", id], sid);
  expect(JSON.parse(stdout)).toMatchObject({ id, state: "ringing" });
  expect(await invoke(["end", id], own)).toMatchObject({ code: 0 });
});

/** A service whose recording is answered by a function, the environment for it, and an output. */
const serving = async (answer: RequestListener) => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const baseUrl = `http://127.0.0.1:${Object(server.address()).port}`;
  const file = join(mkdtempSync(join(tmpdir(), "outdial-recording-")), "call.wav");
  const env = { OUTDIAL_API_KEY: "a-key-of-the-account", OUTDIAL_BASE_URL: baseUrl };
  return { env, file, paths, args: ["recording", `${baseUrl}/r.wav`, "-o", file] };
};

it("outdial recording asks for nothing that it can't write", async () => {
  const { env, file, paths, args } = await serving((_, response) => response.end("sound"));
  writeFileSync(file, "mine");
  const { code, stderr } = await invoke(args, env);
  expect([code, stderr]).toEqual([1, "outdial: --output cannot be written (EEXIST)\n"]);
  expect(paths).toEqual([]);
});

it("outdial recording leaves no file that has only a part", async () => {
  const { env, file, args } = await serving((_, response) => {
    response.writeHead(200, { "content-length": 9 });
    response.write("s", () => response.destroy());
  });
  expect((await invoke(args, env)).code).toBe(1);
  expect(existsSync(file)).toBe(false);
});

it("an interrupted command about a live call has no word of placing", async () => {
  const asked = Promise.withResolvers<void>();
  const { env, file, args } = await serving((_, response) => {
    response.write("s", () => asked.resolve());
  });
  const running = begin(args, env);
  await asked.promise;
  running.kill("SIGINT");
  const { stderr } = await running.ended;
  expect(stderr).toBe("outdial: interrupted (the same command may be repeated)\n");
  expect(existsSync(file)).toBe(false);
});
