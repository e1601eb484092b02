import { type AddressInfo, createServer } from "node:net";
import type { Service } from "./service.ts";

export const token = "the-token-of-one-caller-0123456789";
export const stranger = "the-token-of-another-one-0123456789";
export const number = "+12025550100";

/** A free port of this machine: `PUBLIC_URL` must be known before the bridge listens. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

export const environment = (
  { emulator, baseUrl }: Service,
  port: number,
): Readonly<Record<string, string>> => {
  const caller = { prefixes: ["+1202555"], per_minute: 3, per_day: 10 };
  return {
    PORT: String(port),
    OUTDIAL_API_KEY: emulator.apiKey,
    OUTDIAL_BASE_URL: baseUrl,
    WEBHOOK_SECRET: emulator.webhookSecret,
    FROM_NUMBER: "+12025550199",
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    BRIDGE_SECRET: "a-secret-of-the-bridge-for-these-tests-only",
    CALLERS: JSON.stringify({
      one: { ...caller, token },
      another: { ...caller, token: stranger },
    }),
    RECORD: "true",
  };
};
