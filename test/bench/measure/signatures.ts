import type { Bench } from "../bench.ts";
import { spread } from "../format.ts";
import { interleave } from "../rounds.ts";
import type { Section, Table } from "../section.ts";
import { ratio, summary } from "../statistics.ts";

const lines = [
  { name: "sign-url", label: "`signUrl`", against: "standardwebhooks-sign" },
  {
    name: "standardwebhooks-sign",
    label: "`standardwebhooks`: `sign`",
    against: "standardwebhooks-sign",
  },
  { name: "verify-url", label: "`verifyUrl`", against: "standardwebhooks-handler" },
  {
    name: "handler-url",
    label: "`callbackHandler`, signed URL",
    against: "standardwebhooks-handler",
  },
  {
    name: "handler-webhook",
    label: "`callbackHandler`, Standard Webhooks",
    against: "standardwebhooks-handler",
  },
  {
    name: "standardwebhooks-handler",
    label: "`standardwebhooks`: `verify` in a handler",
    against: "standardwebhooks-handler",
  },
] as const;

/** Signing and receiving, against the reference package of Standard Webhooks. */
export const signatures = async ({ smoke, runtimes, files }: Bench): Promise<Section> => {
  const tables: Table[] = [];
  const remarks: string[] = [];
  const raw: Record<string, unknown> = {};
  for (const runtime of runtimes) {
    const ask = { inFlight: 1, calls: smoke ? 20 : 400, warmUp: 0 };
    const { told, failed } = await interleave(
      lines.map(({ name }) => ({
        name,
        command: [...runtime.command, files.loop ?? "", files[name] ?? "", "none"],
      })),
      smoke ? 1 : 20,
      ask,
      smoke ? ask : { inFlight: 1, calls: 2000, warmUp: 0 },
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
    for (const [name, reason] of failed) remarks.push(`${runtime.label}, \`${name}\`: ${reason}`);
    raw[runtime.name] = Object.fromEntries(told);
  }
  return {
    title: "signUrl and callbackHandler",
    how: "Operations a second, one after the other. `standardwebhooks` computes its HMAC in JavaScript, at once; ours is Web Crypto's, which answers on another thread. A handler is measured from a `Request` to its `Response`.",
    tables,
    targets: [],
    plots: [],
    remarks,
    raw,
  };
};
