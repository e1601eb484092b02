import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Ari, openSocket } from "../../exchange/ari.ts";
import { callTelephone } from "../../exchange/channel.ts";
import { endpointOf, Limits } from "../../exchange/limits.ts";
import {
  type ExchangeSecrets,
  type ExchangeSettings,
  readSecrets,
  readSettings,
} from "../../exchange/settings.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import type { FailureReason } from "../../performer/line.ts";
import type { Host } from "../command.ts";
import { jsonLine } from "../terminal.ts";
import {
  clockFindings,
  diskFinding,
  type Finding,
  listeningFindings,
  modulesFinding,
  ok,
  printedBy,
  registrationFinding,
  trunkFinding,
  unknown,
  versionFinding,
  wrong,
} from "./findings.ts";
import type { ExchangeFlags } from "./flags.ts";
import { openPorts } from "./listening.ts";

/** What is looked at. */
interface Checked {
  readonly folder: string;
  readonly settings: ExchangeSettings;
  readonly secrets: ExchangeSecrets;
  readonly ari: Ari;
  readonly signal: AbortSignal;
}

/** How long a response of Asterisk's may take, in milliseconds. */
const responseTimeout = 10_000;

const restart = "start it: systemctl start outdial-asterisk; then read asterisk/log/messages";

/** Whether Asterisk is reached, and the time of its machine. */
const reached = async ({ ari, settings, signal }: Checked) => {
  const url = `${settings.asterisk.url}/ari/asterisk/info`;
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(responseTimeout)]);
  const response = await fetch(url, { headers: ari.headers, signal: timeout }).catch(
    () => undefined,
  );
  signal.throwIfAborted();
  const what = "Asterisk";
  if (!response) return { findings: [wrong(what, "gives no answer", restart)] };
  const { status, headers } = response;
  if (status === 401 || status === 403) {
    const next =
      "start Asterisk with the ari.conf that init wrote: its password is that of the secrets";
    return { findings: [wrong(what, "refuses the password", next)] };
  }
  if (!response.ok) {
    const next = "start Asterisk with the files that init wrote";
    return { findings: [wrong(what, `answers HTTP ${status}`, next)] };
  }
  const info: unknown = await response.json().catch(() => undefined);
  return { findings: [versionFinding(info)], date: headers.get("Date") };
};

/** Opens a media socket, as each call has one, and looks for it in the channel log. */
const mediaFindings = async ({
  ari,
  folder,
  settings: { asterisk },
}: Checked): Promise<readonly Finding[]> => {
  const id = `outdial-check-${crypto.randomUUID()}`;
  const what = "media";
  const next = "start Asterisk with the files that init wrote";
  try {
    const { body } = await ari.request("POST", "/channels/externalMedia", {
      app: ari.app,
      channelId: id,
      external_host: "INCOMING",
      transport: "websocket",
      encapsulation: "none",
      connection_type: "server",
      format: "slin",
      transport_data: "f(json)",
    });
    const name = fieldsOf(fieldsOf(body).channelvars).MEDIA_WEBSOCKET_CONNECTION_ID;
    if (!isText(name)) return [wrong(what, "Asterisk makes no media channel", next)];
    const socket = openSocket(`${ari.socketUrl}/media/${name}`, ari.headers, ["media"]);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.addEventListener("open", () => resolve(true));
      for (const type of ["error", "close"]) socket.addEventListener(type, () => resolve(false));
    });
    socket.close();
    return [
      isOpen ? ok(what, "the socket opens") : wrong(what, "the socket does not open", next),
      await logFinding(id, asterisk.channelLog && resolve(folder, asterisk.channelLog)),
    ];
  } finally {
    // The command ends with what it waits for.
    await ari.request("DELETE", `/channels/${id}`);
  }
};

/** How often something is looked at that follows a little later, and from one time to the next, in milliseconds. */
const looks = 25;
const lookInterval = 200;

/** What is found once it is right, or at last. */
const eventually = async (look: () => Promise<Finding>): Promise<Finding> => {
  for (let left = looks; ; left--) {
    const finding = await look();
    if (finding.state !== "wrong" || left === 0) return finding;
    await setTimeout(lookInterval);
  }
};

/** Whether Asterisk writes down which channels have begun. */
const logFinding = async (channel: string, file: string | undefined): Promise<Finding> => {
  const what = "channel log";
  const next =
    "start Asterisk with the cel.conf and cel_custom.conf that init wrote: without it, what became of a call that was cut off stays unknown";
  if (file === undefined) return wrong(what, "is not in the settings", next);
  return eventually(async () => {
    const log = await readFile(file, "utf8").catch(() => "");
    return log.includes(channel)
      ? ok(what, "is written")
      : wrong(what, "lacks a channel that has begun", next);
  });
};

/** What Asterisk says of the trunk: it has asked it a moment after the start. */
const trunkFindings = async ({ ari, settings }: Checked): Promise<readonly Finding[]> => {
  const { trunk, asterisk } = settings;
  const reach = await eventually(async () => {
    const { status, body } = await ari.request("GET", "/endpoints/PJSIP/trunk");
    return trunkFinding(status, body);
  });
  if (!trunk.registers) return [reach];
  const registration = await eventually(async () =>
    registrationFinding(await printedBy(asterisk.command, "-rx", "pjsip show registrations")),
  );
  return [reach, registration];
};

/** Why a test call was not answered, and what to do. */
const notAnswered: Readonly<Record<FailureReason, Finding>> = {
  busy: ok("call", "the telephone is busy: it was reached"),
  no_answer: ok("call", "the telephone rang, and nobody answered"),
  rejected: ok("call", "it was rejected: by the telephone, or by the trunk"),
  canceled: unknown("call", "it was canceled"),
  lost: wrong("call", "Asterisk was lost while it called", restart),
  unreachable: wrong(
    "call",
    "the trunk has not reached the telephone",
    'look at the trunk\'s answer: asterisk -rx "pjsip set logger on", then call again',
  ),
};

/** Places a call within the limits, and hangs up once it is answered. */
const callFinding = async (to: string, checked: Checked): Promise<Finding> => {
  const { ari, settings, signal } = checked;
  const [from_number = ""] = settings.numbers;
  const at = Date.now();
  const refusal = new Limits(settings).admit({ from_number, to_number: to, leg: "call", at });
  const endpoint = endpointOf(to);
  if (refusal || endpoint === undefined) {
    const rule = refusal?.reason ?? "not_a_number";
    return wrong("call", `refused: ${rule}`, 'look at "allow" and "numbers" of the settings');
  }
  const id = `outdial-check-${crypto.randomUUID()}`;
  const reason = await callTelephone(ari, {
    id,
    endpoint,
    callerId: from_number,
    answerTimeout: settings.answerTimeout,
    lifetime: settings.answerTimeout,
    signal,
    onRing: () => {},
    onKey: () => {},
    onEnd: () => {},
  });
  await ari.request("DELETE", `/channels/${id}`);
  return reason ? notAnswered[reason] : ok("call", "it was answered, and hung up");
};

/** What needs Asterisk's events and its REST interface. */
const asteriskFindings = async (
  checked: Checked,
  call: string | undefined,
): Promise<readonly Finding[]> => {
  const { ari } = checked;
  const modules = await ari.request("GET", "/asterisk/modules");
  const found = [modulesFinding(modules.body), ...(await trunkFindings(checked))];
  try {
    await ari.open();
  } catch {
    return [...found, wrong("events", "Asterisk's socket of events does not open", restart)];
  }
  try {
    const media = await mediaFindings(checked);
    const called = call === undefined ? [] : [await callFinding(call, checked)];
    return [...found, ok("events", "the socket opens"), ...media, ...called];
  } finally {
    // What was sent last is on another connection.
    ari.close();
  }
};

/** Looks at everything. */
const findingsOf = async (checked: Checked, call: string | undefined) => {
  const { folder, settings } = checked;
  const { findings, date } = await reached(checked);
  const asterisks = date === undefined ? [] : await asteriskFindings(checked, call);
  const clock = await printedBy(["timedatectl"], "show", "-p", "NTPSynchronized", "--value");
  return [
    ...findings,
    ...asterisks,
    ...(settings.allow.length === 0
      ? [wrong("limits", "no prefix may be called", 'name prefixes in "allow", such as "+4930"')]
      : []),
    ...clockFindings(Date.now(), date ?? null, clock),
    await diskFinding(folder, settings),
    ...listeningFindings(openPorts(), settings),
  ];
};

const marks = { ok: "ok     ", wrong: "WRONG  ", unknown: "?      " } as const;
const styles = { ok: "green", wrong: "red", unknown: "yellow" } as const;

/**
 * Says of each thing whether it is right, and what to do next.
 *
 * @returns whether nothing is wrong
 * @throws {BadParametersException} for a setting that breaks its rule
 */
export const checkExchange = async (
  { folder: given = ".", call, json }: ExchangeFlags,
  { terminal, signal }: Pick<Host, "terminal" | "signal">,
): Promise<boolean> => {
  const folder = resolve(given);
  const settings = readSettings(folder);
  const secrets = readSecrets(folder);
  const { url, user, app } = settings.asterisk;
  // Not the exchange's own name, which one process has: it may be serving.
  const ari = new Ari({ url, user, password: secrets.ariPassword, app: `${app}-check` });
  const findings = await findingsOf({ folder, settings, secrets, ari, signal }, call);
  for (const finding of findings) {
    const { state, what, found, next } = finding;
    const line = `${terminal.paint(styles[state], marks[state])}${what}: ${found}`;
    await terminal.print(
      (json && jsonLine(finding)) || (next ? `${line}\n         → ${next}` : line),
    );
  }
  return findings.every(({ state }) => state !== "wrong");
};
