import type { Bench } from "../bench.ts";
import { spread } from "../format.ts";
import { keptKeys } from "../goals.ts";
import { interleave } from "../rounds.ts";
import type { Section, Table, Target } from "../section.ts";
import { ratio, summary } from "../statistics.ts";

const reference = {
  sign: "standardwebhooks-sign",
  verify: "standardwebhooks-handler",
} as const;

const lines = [
  { name: "sign-url", label: "`signUrl`", against: reference.sign, without: "sign-url-new-keys" },
  {
    name: "sign-url-new-keys",
    label: "`signUrl`, each time with another secret",
    against: reference.sign,
  },
  { name: reference.sign, label: "`standardwebhooks`: `sign`", against: reference.sign },
  { name: "verify-url", label: "`verifyUrl`", against: reference.verify },
  {
    name: "handler-url",
    label: "`callbackHandler`, signed URL",
    against: reference.verify,
    without: "handler-url-new-keys",
  },
  {
    name: "handler-url-new-keys",
    label: "`callbackHandler`, signed URL, each time with another secret",
    against: reference.verify,
  },
  {
    name: "handler-webhook",
    label: "`callbackHandler`, Standard Webhooks",
    against: reference.verify,
    without: "handler-webhook-new-keys",
  },
  {
    name: "handler-webhook-new-keys",
    label: "`callbackHandler`, Standard Webhooks, each time with another secret",
    against: reference.verify,
  },
  {
    name: reference.verify,
    label: "`standardwebhooks`: `verify` in a handler",
    against: reference.verify,
  },
] as const;

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
    const { told, failed } = await interleave(
      lines.map(({ name }) => ({
        name,
        command: [...runtime.command, files.loop ?? "", files[name] ?? "", "none"],
      })),
      smoke ? 1 : 10,
      ask,
      smoke ? ask : { inFlight: 1, calls: 1, warmUp: 8000 },
    );
    const rates = (name: string) => (told.get(name) ?? []).map(({ wall }) => 1e6 / wall);
    tables.push({
      title: runtime.label,
      columns: ["operation", "a second", "x `standardwebhooks`"],
      rows: lines
        .filter(({ name }) => told.has(name))
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
    raw[runtime.name] = Object.fromEntries(told);
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
