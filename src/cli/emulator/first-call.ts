import type { CallParams } from "../../calls/params.ts";

/** The shells whose quoting is known. */
export type Shell = "sh" | "powershell";

/**
 * The shell that this was started from. PowerShell names its modules to its children; on Windows they
 * are named to everyone, but `cmd` has a prompt of its own and a Unix shell names itself.
 */
export const shellOf = (
  { PSModulePath, PROMPT, SHELL }: Readonly<Record<string, string | undefined>>,
  platform: string,
): Shell => (PSModulePath && !(platform === "win32" && (PROMPT || SHELL)) ? "powershell" : "sh");

/** A line that places a call by itself. The key is no argument of any process: those are public. */
const lines: Readonly<Record<Shell, (url: string, apiKey: string, body: string) => string>> = {
  sh: (url, apiKey, body) =>
    `echo "X-API-Key: ${apiKey}" | curl ${url} -H @- ` +
    `-H "Content-Type: application/json" -d '${body}'`,
  powershell: (url, apiKey, body) =>
    `Invoke-RestMethod ${url} -Method Post -Headers @{ "X-API-Key" = "${apiKey}" } ` +
    `-ContentType "application/json" -Body '${body}'`,
};

/** The line that places a first call. */
export const firstCall = (
  shell: Shell,
  baseUrl: string,
  apiKey: string,
  call: CallParams,
): string => lines[shell](`${baseUrl}/api/v1/calls/initiate`, apiKey, JSON.stringify(call));
