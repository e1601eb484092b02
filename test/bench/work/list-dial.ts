// A list and a bare loop of `create`, dialled through the emulator of services.ts: a round for each line of stdin.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";
import { Client } from "outdial";
import { callbackHandler } from "outdial/callbacks";
import { type Campaign, openCampaign } from "outdial/campaigns";

/** Calls a second, each to its end: a bare loop of `create` and a list. */
export interface DialRates {
  readonly bare: number;
  readonly list: number;
}

/** A round of each, as the launcher asks for it. */
export interface DialAsk {
  readonly calls: number;
  readonly inFlight: number;
}

const [, , baseUrl = "", apiKey = ""] = process.argv;
const secret = "a secret that was made at random";
const client = new Client(apiKey, { baseUrl, timeout: 60_000 });
const flow_url = "http://127.0.0.1:9/flow";
const from_number = "+12025550199";

let campaign: Campaign | undefined;
let ended = 0;
let awaited = { calls: 0, resolve: () => {} };

/** Waits until so many calls have ended. */
const allEnded = (calls: number): Promise<void> => {
  ended = 0;
  return new Promise((resolve) => {
    awaited = { calls, resolve };
  });
};

const count = (): void => {
  if (++ended === awaited.calls) awaited.resolve();
};

const status = callbackHandler({
  secret,
  onEvent: async (received) => {
    await campaign?.note(received);
    if (received.event.type === "call.completed") count();
  },
});

/** What a bare loop does with a notification: the least. */
const counted = async (request: Request): Promise<Response> => {
  if ((await request.json()).type === "call.completed") count();
  return new Response(null, { status: 204 });
};

const url = await new Promise<string>((resolve) => {
  const answer = (request: Request) =>
    request.url.includes("/bare") ? counted(request) : status(request);
  serve({ fetch: answer, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
    resolve(`http://127.0.0.1:${port}`),
  );
});

let next = 3_035_000_000;
const nextNumber = (): string => `+1${next++}`;

const bare = async ({ calls, inFlight }: DialAsk): Promise<void> => {
  const all = allEnded(calls);
  let left = calls;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const to_number = nextNumber();
      const status_callback_url = `${url}/bare`;
      await client.calls.create({ from_number, to_number, flow_url, status_callback_url });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  await all;
};

const list = async ({ calls, inFlight }: DialAsk): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const database = new DatabaseSync(join(folder, "people.outdial"));
  campaign = await openCampaign(database, {
    from_number,
    flow_url,
    status_callback_url: `${url}/status`,
    secret,
    create: (params, options) => client.calls.create(params, options),
    rate: 10_000,
    concurrency: inFlight,
    window: "always",
  });
  await campaign.add(Array.from({ length: calls }, () => ({ to_number: nextNumber() })));
  const began = performance.now();
  const { completed } = await campaign.run();
  const took = performance.now() - began;
  await campaign.close();
  database.close();
  rmSync(folder, { recursive: true });
  if (completed !== calls) throw new Error(`${completed} of ${calls} completed`);
  return took;
};

const round = async (ask: DialAsk): Promise<DialRates> => {
  const began = performance.now();
  await bare(ask);
  const took = performance.now() - began;
  return { bare: (1000 * ask.calls) / took, list: (1000 * ask.calls) / (await list(ask)) };
};

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await round(JSON.parse(line))));
}
process.exit();
