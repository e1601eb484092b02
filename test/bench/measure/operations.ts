// Operations a second: signatures and notifications, and whole calls in the emulator.
import { interleave, number, ratio, spread, summary } from "../rounds.ts";
import type { Bench, Section, Table, Target } from "../section.ts";
import { emulatorRate, keptKeys } from "../subjects.ts";

const reference = {
  sign: "referenceSign",
  verify: "referenceReceive",
} as const;

const lines = [
  { name: "sign", label: "`signUrl`", against: reference.sign, without: "signNewKeys" },
  {
    name: "signNewKeys",
    label: "`signUrl`, each time with another secret",
    against: reference.sign,
  },
  { name: reference.sign, label: "`standardwebhooks`: `sign`", against: reference.sign },
  { name: "verify", label: "`verifyUrl`", against: reference.verify },
  {
    name: "receiveUrl",
    label: "`callbackHandler`, signed URL",
    against: reference.verify,
    without: "receiveUrlNewKeys",
  },
  {
    name: "receiveUrlNewKeys",
    label: "`callbackHandler`, signed URL, each time with another secret",
    against: reference.verify,
  },
  {
    name: "receiveWebhook",
    label: "`callbackHandler`, Standard Webhooks",
    against: reference.verify,
    without: "receiveWebhookNewKeys",
  },
  {
    name: "receiveWebhookNewKeys",
    label: "`callbackHandler`, Standard Webhooks, each time with another secret",
    against: reference.verify,
  },
  {
    name: reference.verify,
    label: "`standardwebhooks`: `verify` in a handler",
    against: reference.verify,
  },
] as const;

/** The exports of operations.ts that are measured. */
export const operations: readonly string[] = [...lines.map(({ name }) => name), "lifecycle"];

type Line = (typeof lines)[number];
const isKept = (line: Line): line is Extract<Line, { readonly without: string }> =>
  "without" in line;

/** Signing and receiving, against the reference package of Standard Webhooks. */
export const signatures = async ({ smoke, runtimes, files }: Bench): Promise<Section> => {
  const tables: Table[] = [];
  const targets: Target[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};
  for (const runtime of runtimes) {
    const ask = { inFlight: 1, calls: smoke ? 20 : 4000, warmUp: 0 };
    const { measured, failed } = await interleave(
      lines.map(({ name }) => ({
        name,
        command: [...runtime.command, files.calls ?? "", "rounds", files[name] ?? "", "none"],
      })),
      smoke ? 1 : 10,
      ask,
      smoke ? ask : { inFlight: 1, calls: 1, warmUp: 8000 },
    );
    const rates = (name: string) => (measured.get(name) ?? []).map(({ wall }) => 1e6 / wall);
    tables.push({
      title: runtime.label,
      columns: ["operation", "a second", "x `standardwebhooks`"],
      rows: lines
        .filter(({ name }) => measured.has(name))
        .map(({ name, label, against }) => [
          label,
          spread(summary(rates(name))),
          spread(ratio(rates(name), rates(against))),
        ]),
    });
    for (const { name, label, without } of runtime.name === "node" ? lines.filter(isKept) : []) {
      const times = ratio(rates(name), rates(without));
      targets.push({
        goal: `${runtime.label}: ${label} is at least ${keptKeys[name]} x as fast as when its key is imported each time`,
        measured: spread(times),
        met: times.median >= keptKeys[name],
      });
    }
    for (const [name, reason] of failed) remarks.push(`${runtime.label}, \`${name}\`: ${reason}`);
    raw[runtime.name] = Object.fromEntries(measured);
  }
  return {
    title: "signUrl and callbackHandler",
    how: "Operations a second, one after the other. `standardwebhooks` computes its HMAC in JavaScript, at once; ours is Web Crypto's, which answers on another thread. A handler is measured from a `Request` to its `Response`. The keys of the latest secrets are kept; those with another secret each time go through 1 000 of them in turn, so that each is imported anew, as every key was before any was kept.",
    tables,
    targets,
    plots: [],
    remarks,
    raw,
  };
};

/** Whole calls through the emulator, in one process. */
export const emulator = async ({ smoke, runtimes, files }: Bench): Promise<Section> => {
  const rows: string[][] = [];
  const targets: Target[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};
  for (const inFlight of [1, 50]) {
    const ask = { inFlight, calls: smoke ? 50 : 4000, warmUp: 0 };
    const { measured, failed } = await interleave(
      runtimes.map(({ name, command }) => ({
        name,
        command: [...command, files.calls ?? "", "rounds", files.lifecycle ?? "", "none"],
      })),
      smoke ? 1 : 10,
      ask,
      smoke ? ask : { inFlight, calls: 1, warmUp: 8000 },
    );
    for (const { name, label } of runtimes) {
      const rounds = measured.get(name);
      if (!rounds) {
        remarks.push(`${label}: ${failed.get(name)}`);
        continue;
      }
      const rates = summary(rounds.map(({ wall }) => 1e6 / wall));
      rows.push([
        label,
        `${inFlight}`,
        spread(rates),
        spread(summary(rounds.map(({ cpu }) => cpu))),
      ]);
      if (name === "node" && inFlight === 1) {
        targets.push({
          goal: `Node 24, one at a time: at least ${number(emulatorRate)} calls a second`,
          measured: spread(rates),
          met: rates.median >= emulatorRate,
        });
      }
      raw[`${name} ${inFlight}`] = rounds;
    }
  }
  return {
    title: "Emulator",
    how: "Whole calls in one process, instant clock: a `Client` places a call, the emulator rings, answers, fetches the flow, follows it, and delivers four signed notifications; the round waits until each is over and looks at its history.",
    tables: [
      { columns: ["runtime", "in flight", "calls a second", "µs of processor a call"], rows },
    ],
    targets,
    plots: [],
    remarks,
    raw,
  };
};
