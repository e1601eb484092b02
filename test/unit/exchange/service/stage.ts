import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { CallEvent } from "../../../../src/callbacks/index.ts";
import {
  type ExchangeEvent,
  type ExchangeService,
  openService,
  type ServiceParts,
} from "../../../../src/exchange/service.ts";
import { openStore } from "../../../../src/exchange/store.ts";
import { FakeAsterisk } from "./asterisk.ts";

export const from = "+12025550199";
export const to = "+12025550150";
const secret = `whsec_${btoa("a secret of the tests, 32 bytes!")}`;

/** A service on a fake Asterisk. */
export interface Stage {
  readonly service: ExchangeService;
  readonly asterisk: FakeAsterisk;
  readonly store: Awaited<ReturnType<typeof openStore>>;
  /** What its application was told. */
  readonly told: CallEvent[];
  readonly events: ExchangeEvent[];
  /** Asks for a call. */
  readonly ask: (key?: string, to_number?: string) => Promise<Response>;
  /** The same, of which the id is wanted. */
  readonly place: (key?: string) => Promise<string>;
  /** Copies the store as a kill would leave it at this moment. */
  readonly killed: () => string;
}

const folder = () => mkdtempSync(join(tmpdir(), "exchange-"));

const waiting = { action: "say", prompts: [{ pause_ms: 60_000 }] };

/** Where nothing is stored yet. */
export const newPath = (): string => join(folder(), "store.sqlite");

/** An Asterisk with a log of channels. */
export const loggingAsterisk = () => {
  const log = join(folder(), "channels.csv");
  return { asterisk: new FakeAsterisk(log), log };
};

/** Opens a service, until the test is over. Its key is `the key`. */
export const openStage = async (
  path: string,
  {
    asterisk = new FakeAsterisk(),
    receive = () => 204,
    ...more
  }: Partial<ServiceParts> & {
    readonly asterisk?: FakeAsterisk;
    /** The status by which the application answers a notification. */
    readonly receive?: (event: CallEvent) => number;
  } = {},
): Promise<Stage> => {
  const store = await openStore(path);
  store.keyKeeper.replace("the key");
  const told: CallEvent[] = [];
  const events: ExchangeEvent[] = [];
  const service = await openService(
    {
      store,
      ari: { url: "http://asterisk.test", user: "", password: "", app: "outdial" },
      endpoint: (number) => `PJSIP/${number}@trunk`,
      numbers: [from],
      webhookSecret: secret,
      recordingSecret: secret,
      also: [],
      baseUrl: "https://exchange.test",
      takesPrivate: false,
      admit: () => undefined,
      outgoing: async (request) => {
        // A flow that lasts until the call is over.
        if (!request.url.endsWith("/status")) return Response.json(waiting);
        const event: CallEvent = await request.json();
        const status = receive(event);
        if (status < 300) told.push(event);
        return new Response(null, { status });
      },
      openSocket: () => {
        throw new TypeError("no media socket");
      },
      onEvent: (event) => events.push(event),
      ...more,
    },
    (_, onState = () => {}) => {
      asterisk.onState = onState;
      return asterisk;
    },
  );
  onTestFinished(async () => {
    asterisk.isOpen = false;
    await service.close({ wait: 0 });
  });
  const ask: Stage["ask"] = (key, to_number = to) =>
    service.fetch(
      new Request("https://exchange.test/api/v1/calls/initiate", {
        method: "POST",
        headers: {
          "X-API-Key": "the key",
          "Content-Type": "application/json",
          ...(key !== undefined && { "Idempotency-Key": key }),
        },
        body: JSON.stringify({
          ...{ from_number: from, to_number },
          flow_url: "https://app.test/flow",
          status_callback_url: "https://app.test/status",
        }),
      }),
    );
  return {
    ...{ service, asterisk, store, told, events, ask },
    place: async (key) => (await (await ask(key)).json()).data.id,
    killed: () => {
      const copy = newPath();
      store.database.exec(`vacuum into '${copy}'`);
      return copy;
    },
  };
};

/** Waits for a condition. */
export const until = (condition: () => boolean): Promise<void> =>
  vi.waitUntil(condition, { timeout: 10_000, interval: 5 }).then(() => {});
