import { expect, test } from "vitest";
import { firstCall, shellOf } from "../../../../src/cli/emulator/application.ts";

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

const call = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "http://127.0.0.1:4010/sample/flow",
  status_callback_url: "http://127.0.0.1:4010/sample/status",
};

test("in PowerShell the line is a command of its own, whose quotes leave JSON as it is", () => {
  const line = firstCall("powershell", "http://127.0.0.1:4010", "ak_1", call);
  expect(line).toMatch(
    /^Invoke-RestMethod http:\/\/127\.0\.0\.1:4010\/api\/v1\/calls\/initiate -Method Post /,
  );
  expect(line).toContain('-Headers @{ "X-API-Key" = "ak_1" } -ContentType "application/json"');
  expect(JSON.parse(/-Body '([^']*)'$/.exec(line)?.[1] ?? "")).toEqual(call);
});
