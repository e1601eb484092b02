import type { EncodedCall } from "../../http/post.ts";
import type { CallParams } from "../../index.ts";
import type { Environment } from "../command.ts";

/** The shells whose quoting is known. */
export type Shell = "sh" | "powershell";

/**
 * The shell that started this process. PowerShell exports its module path to its children; Windows
 * exports it to everyone, but `cmd` sets a prompt and a Unix shell sets its own name.
 */
export const shellOf = ({ PSModulePath, PROMPT, SHELL }: Environment, platform: string): Shell =>
  PSModulePath && !(platform === "win32" && (PROMPT || SHELL)) ? "powershell" : "sh";

/** How each shell spells what a command is made of. */
const spellings = {
  sh: {
    quote: (text: string): string => `'${text.replaceAll("'", "'\\''")}'`,
    setVariable: (name: string, value: string): string => `${name}=${value} `,
  },
  powershell: {
    quote: (text: string): string => `'${text.replaceAll("'", "''")}'`,
    setVariable: (name: string, value: string): string => `$env:${name} = ${value}; `,
  },
} as const satisfies Readonly<Record<Shell, object>>;

/** What a command makes of a request. */
interface RequestLine {
  readonly url: string;
  readonly contentType: string;
  /** The headers beside `Content-Type`: one of them has the key. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** The arguments of curl with a body; a form stays readable. */
const curlData = ({ contentType, body }: RequestLine, quote: (text: string) => string): string =>
  contentType === "application/x-www-form-urlencoded"
    ? [...new URLSearchParams(body)]
        .map(([name, value]) => ` --data-urlencode ${quote(`${name}=${value}`)}`)
        .join("")
    : ` -H ${quote(`Content-Type: ${contentType}`)} -d ${quote(body)}`;

const requestLines: Readonly<Record<Shell, (line: RequestLine) => string>> = {
  // The key is no argument of a process: those are public.
  sh: (line) => {
    const { quote } = spellings.sh;
    const headers = line.headers.map(([name, value]) => `${name}: ${value}`).join("\n");
    return `echo ${quote(headers)} | curl ${quote(line.url)} -H @-${curlData(line, quote)}`;
  },
  powershell: ({ url, contentType, headers, body }) => {
    const { quote } = spellings.powershell;
    const given = headers.map(([name, value]) => `${quote(name)} = ${quote(value)}`).join("; ");
    return (
      `Invoke-RestMethod ${quote(url)} -Method Post -Headers @{ ${given} } ` +
      `-ContentType ${quote(contentType)} -Body ${quote(body)}`
    );
  },
};

/** A command that sends a request: with curl, or with what PowerShell has. */
export const requestCommand = (shell: Shell, { url, headers, body }: EncodedCall): string => {
  const { "Content-Type": contentType = "", ...others } = headers;
  return requestLines[shell]({ url, contentType, headers: Object.entries(others), body });
};

/** An emulator, as a command of outdial reaches it. */
interface Emulated {
  readonly service: string;
  readonly account: string;
  readonly apiKey: string;
  readonly baseUrl: string;
  /** Whether the carrier detects machines. */
  readonly detectsMachines: boolean;
}

/** A key on one line, as an environment variable has it: a PEM has several. */
export const onOneLine = (key: string): string => key.trim().replace(/\s+/g, " ");

/** `outdial call` with the parameters of a call, for a carrier whose requests expire. */
export const callCommand = (
  shell: Shell,
  { service, account, apiKey, baseUrl, detectsMachines }: Emulated,
  call: CallParams,
): string => {
  const { quote, setVariable } = spellings[shell];
  const flags = {
    service,
    account,
    "base-url": baseUrl,
    from: call.from_number,
    to: call.to_number,
    flow: call.flow_url,
    callback: call.status_callback_url,
    ...(detectsMachines && { "machine-detection": "message" }),
  };
  const given = Object.entries(flags).map(([name, value = ""]) => ` --${name} ${quote(value)}`);
  return `${setVariable("OUTDIAL_API_KEY", quote(onOneLine(apiKey)))}outdial call${given.join("")}`;
};
