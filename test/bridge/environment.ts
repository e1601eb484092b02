import type { Service } from "./service.ts";

export const token = "the-token-of-one-caller-0123456789";
export const stranger = "the-token-of-another-one-0123456789";
export const number = "+12025550100";
export const secret = "a-secret-of-the-bridge-for-these-tests-only";

/** The variables of a bridge that uses this service. */
export const environment = (
  { emulator, baseUrl }: Service,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => {
  const caller = { prefixes: ["+1202555"], per_minute: 3, per_day: 10 };
  return {
    PORT: "0",
    OUTDIAL_API_KEY: emulator.apiKey,
    OUTDIAL_BASE_URL: baseUrl,
    WEBHOOK_SECRET: emulator.webhookSecret,
    FROM_NUMBER: "+12025550199",
    BRIDGE_SECRET: secret,
    CALLERS: JSON.stringify({
      one: { ...caller, token },
      another: { ...caller, token: stranger },
    }),
    RECORD: "true",
    AGENT: "openai",
    AGENT_KEY: "sk-key",
    AGENT_TIMEOUT_SECONDS: "120", // Longer than a busy machine keeps anything waiting.
    ...more,
  };
};
