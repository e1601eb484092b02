import { execFile } from "node:child_process";
import { statfs } from "node:fs/promises";
import { asteriskModules } from "../../exchange/asterisk-files.ts";
import type { ExchangeSettings } from "../../exchange/settings.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import { isExposed, type OpenPort } from "./listening.ts";

/** What a check has found. */
export interface Finding {
  /** `unknown`: it could not be looked at. */
  readonly state: "ok" | "wrong" | "unknown";
  /** What was looked at. */
  readonly what: string;
  /** What is so, in one sentence without a full stop. */
  readonly found: string;
  /** What to do next, where something is wrong. */
  readonly next?: string | undefined;
}

export const ok = (what: string, found: string): Finding => ({ state: "ok", what, found });

export const wrong = (what: string, found: string, next: string): Finding => ({
  state: "wrong",
  what,
  found,
  next,
});

export const unknown = (what: string, found: string, next?: string): Finding => ({
  state: "unknown",
  what,
  found,
  next,
});

const least = [22, 6] as const;

/** Asterisk's version, of what it says about itself. */
export const versionFinding = (info: unknown): Finding => {
  const what = "Asterisk";
  const { version } = fieldsOf(fieldsOf(info).system);
  const [, major, minor] = (isText(version) && /^(\d+)\.(\d+)/.exec(version)) || [];
  if (!major) return unknown(what, "does not say its version");
  const shown = `version ${major}.${minor}`;
  const isEnough =
    Number(major) > least[0] || (Number(major) === least[0] && Number(minor) >= least[1]);
  return isEnough
    ? ok(what, shown)
    : wrong(what, shown, `install ${least.join(".")} or later: media sockets came with it`);
};

/** The modules that an exchange needs, of those that run. */
export const modulesFinding = (modules: unknown): Finding => {
  const what = "modules";
  const running = new Set(
    (Array.isArray(modules) ? modules : [])
      .map(fieldsOf)
      .filter(({ status }) => status === "Running")
      .map(({ name }) => String(name).replace(/\.so$/, "")),
  );
  const missing = asteriskModules.filter((name) => !running.has(name));
  if (missing.length === 0) return ok(what, `all ${asteriskModules.length} run`);
  return wrong(
    what,
    `${missing.slice(0, 5).join(", ")}${missing.length > 5 ? " and others" : ""} do not run`,
    "install asterisk-modules, and start Asterisk with the modules.conf that init wrote",
  );
};

/** Whether the trunk answers, of what Asterisk says of the endpoint. */
export const trunkFinding = (status: number, endpoint: unknown): Finding => {
  const what = "trunk";
  if (status === 404) {
    return wrong(what, "Asterisk has none", "start Asterisk with the pjsip.conf that init wrote");
  }
  const { state } = fieldsOf(endpoint);
  if (state === "online") return ok(what, "answers");
  return wrong(
    what,
    "does not answer Asterisk's OPTIONS",
    "check its host, port and transport, and that the firewall lets SIP through; some trunks never answer: then try --call",
  );
};

/** Whether the trunk has taken the registration, of what Asterisk's command prints. */
export const registrationFinding = (printed: string | undefined): Finding => {
  const what = "registration";
  if (printed === undefined) {
    const next = 'run: asterisk -rx "pjsip show registrations" where Asterisk runs';
    return unknown(what, "Asterisk's program can't be asked here", next);
  }
  const [, state] =
    /^ *trunk\/sip.*?\s(Registered|Unregistered|Rejected|Stopped)\b/m.exec(printed) ?? [];
  if (state === "Registered") return ok(what, "the trunk has taken it");
  if (state === "Rejected" || state === "Stopped") {
    return wrong(
      what,
      "the trunk has refused it",
      "check the name and the password there: run init --force with the right ones, and restart Asterisk",
    );
  }
  return wrong(
    what,
    state ? "the trunk has not answered it" : "Asterisk has none",
    state
      ? "check the trunk's host and transport, and the firewall"
      : "start Asterisk with the pjsip.conf that init wrote",
  );
};

/** How long a program may take, in milliseconds. */
const programTimeout = 10_000;

/** What a program prints; `undefined` where it fails. */
export const printedBy = (
  [program = "", ...first]: readonly string[],
  ...args: readonly string[]
): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(program, [...first, ...args], { timeout: programTimeout }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    );
  });

/** How far two clocks may be apart, in milliseconds: the header has whole seconds. */
const maxDrift = 3_000;

/** Whether the clock is right: signatures and the hours of a list go by it. */
export const clockFindings = (
  now: number,
  asterisks: string | null,
  isSynchronized: string | undefined,
): readonly Finding[] => {
  const what = "clock";
  const there = asterisks === null ? Number.NaN : Date.parse(asterisks);
  const isApart = Math.abs(there - now) > maxDrift;
  const next = "turn on the synchronization of the clock: timedatectl set-ntp true";
  return [
    ...(isApart ? [wrong(what, "differs from that of Asterisk's machine", next)] : []),
    isSynchronized === undefined
      ? unknown(what, "timedatectl can't be asked whether it is synchronized", next)
      : isSynchronized.trim() === "yes"
        ? ok(what, "is synchronized")
        : wrong(what, "is not synchronized", next),
  ];
};

/** How much of the disk must be free beside what recordings may take, in bytes. */
const spare = 2 ** 30;

/** Whether there is room for the store and the recordings. */
export const diskFinding = async (
  folder: string,
  { recordings }: Pick<ExchangeSettings, "recordings">,
): Promise<Finding> => {
  const what = "disk";
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const megabytes = Math.floor(free / 2 ** 20);
  if (free < spare) {
    return wrong(
      what,
      `${megabytes} MB are free`,
      "free 1 GB or more: calls are refused without room",
    );
  }
  return megabytes < recordings.megabytes
    ? wrong(
        what,
        `${megabytes} MB are free, and recordings may take ${recordings.megabytes}`,
        'lower "recordings.megabytes", or free more',
      )
    : ok(what, `${megabytes} MB are free`);
};

const portIn = (url: string): number => Number(new URL(url).port) || 80;

/** The usual port of Asterisk's manager, which no exchange needs. */
const managerPort = 5038;

/** Which ports anybody may reach, and should not. */
export const listeningFindings = (
  ports: readonly OpenPort[] | undefined,
  { asterisk, listen, pages }: Pick<ExchangeSettings, "asterisk" | "listen" | "pages">,
): readonly Finding[] => {
  const what = "network";
  if (!ports) return [unknown(what, "this machine does not say which ports are open")];
  const guarded: readonly (readonly [port: number, name: string, next: string])[] = [
    [
      portIn(asterisk.url),
      "Asterisk's REST interface",
      "set bindaddr of http.conf to 127.0.0.1: its media sockets have no password",
    ],
    [managerPort, "Asterisk's manager", "set enabled = no in manager.conf"],
    [pages.port, "the pages", 'set "pages.host" to 127.0.0.1'],
    [
      listen.port,
      "the API in plain http",
      'set "listen.host" to 127.0.0.1, and put a proxy with a certificate before it',
    ],
  ];
  const exposed = guarded.filter(([guardedPort]) =>
    ports.some(({ address, port }) => port === guardedPort && isExposed(address)),
  );
  if (exposed.length === 0) return [ok(what, "nothing is open that should not be")];
  return exposed.map(([port, name, next]) =>
    wrong(what, `everybody may reach ${name} at port ${port}`, next),
  );
};
