import { serve } from "@hono/node-server";
import { type CallRecord, createEmulator } from "outdial/emulator";

/** What the examples are asked to dial: their outcome goes by the number. */
export const to = {
  placed: "+12025550100",
  /** The call is accepted, but nobody can read the answer. */
  garbled: "+12025550115",
  /** The service answers 503. */
  outage: "+12025550110",
  /** The service answers 429. */
  limited: "+12025550111",
} as const;

const FROM_NUMBER = "+12025550199";
const APP_URL = "https://app.test";

/** The emulator on a port of this machine, and the environment that leads an example to it. */
export interface Service {
  readonly env: Readonly<Record<string, string>>;
  readonly baseUrl: string;
  /** Who called whom, and what for, in the order in which the calls were accepted. */
  readonly calls: () => readonly Partial<CallRecord>[];
  /** The URLs that were asked for. */
  readonly urls: readonly string[];
  readonly close: () => Promise<void>;
}

export const startService = async (): Promise<Service> => {
  const emulator = createEmulator({
    clock: "instant",
    fetch: () => Response.json({ action: "hangup" }),
  });
  const urls: string[] = [];
  const fetch = (request: Request): Promise<Response> => {
    urls.push(request.url);
    return emulator.fetch(request);
  };
  const { server, port } = await new Promise<{ server: ReturnType<typeof serve>; port: number }>(
    (resolve) => {
      const server = serve({ fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
        resolve({ server, port }),
      );
    },
  );
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    env: {
      OUTDIAL_API_KEY: emulator.apiKey,
      SIGNING_SECRET: crypto.randomUUID(),
      SERVICE_SECRET: crypto.randomUUID(),
      OUTDIAL_BASE_URL: baseUrl,
      FROM_NUMBER,
      APP_URL,
    },
    baseUrl,
    calls: () =>
      emulator.calls.map(({ from_number, to_number, flow_url, status_callback_url }) => ({
        from_number,
        to_number,
        flow_url,
        status_callback_url,
      })),
    urls,
    close: async () => {
      await emulator.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** What the service must have seen after an example has dialled this number once. */
export const onlyCall = (to_number: string): readonly Partial<CallRecord>[] => [
  {
    from_number: FROM_NUMBER,
    to_number,
    flow_url: `${APP_URL}/flow`,
    status_callback_url: `${APP_URL}/status`,
  },
];
