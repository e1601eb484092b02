import { readFileSync } from "node:fs";
import { isPublicAddress } from "../../exchange/addresses.ts";
import { withoutThrowing } from "../../lib/check.ts";

/** An open port of this machine. */
export interface OpenPort {
  readonly address: string;
  readonly port: number;
}

/** The state of a port that takes connections, as the kernel writes it. */
const listens = "0A";

/** An address as the kernel writes it: words of four bytes, each the wrong way round. */
const addressOf = (hex: string): string => {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((each) =>
    (each.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16)),
  );
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  const text = new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
  // What is written so is of IPv4, too.
  const [, high = "", low = ""] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(text) ?? [];
  if (!high) return text;
  const number = (Number.parseInt(high, 16) << 16) | Number.parseInt(low, 16);
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".");
};

/** The ports that take connections, of the text of /proc/net/tcp or tcp6. */
export const openPortsIn = (table: string): readonly OpenPort[] =>
  table
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === listens)
    .flatMap(([, local = ""]) => {
      const [hex = "", port = ""] = local.split(":");
      return port ? [{ address: addressOf(hex), port: Number.parseInt(port, 16) }] : [];
    });

/** The ports of this machine that take connections; `undefined` where that can't be read. */
export const openPorts = (): readonly OpenPort[] | undefined => {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap(
    (file) => withoutThrowing(() => readFileSync(file, "utf8")) ?? [],
  );
  return tables.length > 0 ? tables.flatMap(openPortsIn) : undefined;
};

const everywhere: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Whether anybody may reach an address: a public one, or all that the machine has. */
export const isExposed = (address: string): boolean =>
  everywhere.has(address) || isPublicAddress(address);
