import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { encodeCall } from "../../../../src/calls/create.ts";
import { callCommand, requestCommand, shellOf } from "../../../../src/cli/emulator/shell.ts";

const PSModulePath = "modules";

test.each([
  ["sh", "a Unix shell", { SHELL: "/bin/zsh" }, "darwin"],
  ["powershell", "PowerShell on Windows", { PSModulePath }, "win32"],
  ["powershell", "PowerShell elsewhere", { PSModulePath, SHELL: "/bin/bash" }, "linux"],
  ["sh", "cmd on Windows", { PSModulePath, PROMPT: "$P$G" }, "win32"],
  ["sh", "a Unix shell on Windows", { PSModulePath, SHELL: "/usr/bin/bash" }, "win32"],
] as const)("%s is the shell in %s", (shell, _, env, platform) => {
  expect(shellOf(env, platform)).toBe(shell);
});

const baseUrl = "http://127.0.0.1:4010";
const call = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: `${baseUrl}/sample/flow?it's=$HOME`,
  status_callback_url: `${baseUrl}/sample/status`,
};

/** The arguments of a command, as `sh` reads them: a function stands for each program in it. */
const runInShell = (command: string): readonly string[] => {
  const shown = `curl() { printf '%s\\n' "$@" "$(cat)"; }; outdial() { printf '%s\\n' "$@"; }`;
  return execFileSync("sh", ["-c", `${shown}; ${command}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
};

describe("the command for a request", () => {
  test("in sh keeps the key off the arguments, and every value as it is", () => {
    const command = requestCommand("sh", encodeCall(call, baseUrl, "ak_1"));
    const [url, ...args] = runInShell(command);
    expect(url).toBe(`${baseUrl}/api/v1/calls/initiate`);
    const type = "Content-Type: application/json";
    expect(args.slice(0, -2)).toEqual(["-H", "@-", "-H", type, "-d"]);
    expect(JSON.parse(args.at(-2) ?? "")).toEqual(call);
    expect(args.at(-1)).toBe("X-API-Key: ak_1");
  });

  test("in sh has each field of a form by its name", () => {
    const headers = {
      Authorization: "Basic QUM6dA==",
      "Content-Type": "application/x-www-form-urlencoded",
    };
    const body = `${new URLSearchParams({ To: call.to_number, Url: call.flow_url })}`;
    const [, ...args] = runInShell(requestCommand("sh", { url: baseUrl, headers, body }));
    expect(args).toEqual([
      ...["-H", "@-", "--data-urlencode", `To=${call.to_number}`],
      ...["--data-urlencode", `Url=${call.flow_url}`],
      "Authorization: Basic QUM6dA==",
    ]);
  });

  test("in PowerShell is a command of its own, whose quotes leave JSON as it is", () => {
    const command = requestCommand("powershell", encodeCall(call, baseUrl, "ak_1"));
    expect(command).toMatch(
      /^Invoke-RestMethod 'http:\/\/127\.0\.0\.1:4010\/api\/v1\/calls\/initiate' -Method Post /,
    );
    expect(command).toContain("-Headers @{ 'X-API-Key' = 'ak_1' } -ContentType 'application/json'");
    const body = /-Body '((?:[^']|'')*)'$/.exec(command)?.[1] ?? "";
    expect(JSON.parse(body.replaceAll("''", "'"))).toEqual(call);
  });
});

describe("outdial call", () => {
  const emulated = {
    ...{ service: "vonage", account: "1", apiKey: "-----BEGIN\nKEY-----\n", baseUrl },
    detectsMachines: false,
  };

  test("in sh has the key in its environment, on one line", () => {
    const command = callCommand("sh", emulated, call);
    expect(command).toMatch(/^OUTDIAL_API_KEY='-----BEGIN KEY-----' outdial call /);
    expect(runInShell(command)).toEqual([
      ...["call", "--service", "vonage", "--account", "1", "--base-url", baseUrl],
      ...["--from", call.from_number, "--to", call.to_number],
      ...["--flow", call.flow_url, "--callback", call.status_callback_url],
    ]);
  });

  test("in PowerShell sets the variable first", () => {
    expect(callCommand("powershell", emulated, call)).toMatch(
      /^\$env:OUTDIAL_API_KEY = '-----BEGIN KEY-----'; outdial call --service 'vonage' /,
    );
  });
});
