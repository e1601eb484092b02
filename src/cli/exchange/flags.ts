import { type Flags, UsageError, type Values } from "../command.ts";

/** What `outdial exchange` does: without a name it serves. */
export const actions = ["init", "check", "erase"] as const;
export type Action = (typeof actions)[number] | "serve";

/** The carriers whose interfaces it speaks beside its own. */
export const carrierNames = ["twilio"] as const;

export const exchangeFlags = {
  folder: {
    type: "string",
    value: "dir",
    help: "where its files are; default: the current folder",
  },
  also: {
    type: "string",
    value: "carrier",
    multiple: true,
    choices: carrierNames,
    help: `serves that carrier's interface too: ${carrierNames.join(", ")}`,
  },
  call: {
    type: "string",
    value: "number",
    help: "check: calls it, and hangs up once it is answered",
  },
  trunk: { type: "string", value: "host", help: "init: the trunk, host or host:port" },
  "trunk-user": { type: "string", value: "name", help: "init: your name there" },
  "trunk-password-file": {
    type: "string",
    value: "path",
    help: "init: a file with the password (or OUTDIAL_TRUNK_PASSWORD)",
  },
  transport: {
    type: "string",
    value: "name",
    choices: ["udp", "tcp", "tls"],
    help: "init: udp (default), tcp, or tls with SRTP",
  },
  "by-address": {
    type: "boolean",
    help: "init: the trunk knows this machine's address: no registration",
  },
  number: {
    type: "string",
    value: "number",
    multiple: true,
    help: "init: a number of yours, one each",
  },
  allow: {
    type: "string",
    value: "prefix",
    multiple: true,
    help: "init: a prefix that may be called, one each; none by default",
  },
  "private-origin": {
    type: "string",
    value: "origin",
    multiple: true,
    help: "init: an application on your network: http://10.0.0.5:3000",
  },
  "base-url": { type: "string", value: "origin", help: "init: the API as others see it" },
  port: {
    type: "string",
    value: "port",
    help: "init: of the API; pages have the next; default 4011",
  },
  "external-address": {
    type: "string",
    value: "address",
    help: "init: this machine as the trunk sees it, behind a router",
  },
  asterisk: { type: "string", value: "path", help: "init: default /usr/sbin/asterisk" },
  speech: { type: "string", value: "program", help: "init: what speaks texts, such as espeak-ng" },
  force: { type: "boolean", help: "init: overwrites files that exist; secrets stay" },
  json: { type: "boolean", help: "the result as lines of JSON; errors too, on stderr" },
} as const satisfies Flags;

/** The values of the options. */
export type ExchangeFlags = Values<typeof exchangeFlags>;

/** The options that every action takes. */
const shared: readonly string[] = ["folder", "json"];

/** The options that only one action takes; all others are those of `init`. */
const own: Readonly<Partial<Record<string, Action>>> = { also: "serve", call: "check" };

const shown: Readonly<Record<Action, string>> = {
  init: "outdial exchange init",
  check: "outdial exchange check",
  erase: "outdial exchange erase",
  serve: "outdial exchange",
};

/** @throws {UsageError} for an option of another action */
export const checkFlags = (action: Action, flags: ExchangeFlags): void => {
  for (const name of Object.keys(flags)) {
    const owner = own[name] ?? "init";
    if (shared.includes(name) || owner === action) continue;
    throw new UsageError(`--${name} is an option of \`${shown[owner]}\``);
  }
};
