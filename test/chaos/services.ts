// A list over two services, of which one is down for a while, on a virtual clock: kills at random, lost answers, lost
// notifications, and each service forging those of the other's attempts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "valibot";
import { CallEvent } from "../../src/callbacks/event.ts";
import { callbackHandler } from "../../src/callbacks/handler.ts";
import { verifyUrl } from "../../src/callbacks/signed-url.ts";
import { get } from "../../src/calls/index.ts";
import type { CampaignOptions, Result } from "../../src/campaigns/index.ts";
import { createEmulator } from "../../src/emulator/index.ts";
import { NetworkException, ServiceException } from "../../src/errors.ts";
import { calls } from "../../src/fetch.ts";
import { randomOf } from "../random.ts";
import { numberOf } from "../unit/campaigns/stage.ts";
import { type Engine, type Home, homes } from "./homes.ts";

export interface ServicesChaos {
  readonly home: Home;
  readonly contacts: number;
  readonly kills: number;
  readonly seed: number;
}

const minute = 60_000;
const secret = "a secret that was made at random";
const names = ["main", "spare"] as const;

type Name = (typeof names)[number];

/** A POST that its service accepted. */
interface Placed {
  readonly key: string;
  readonly service: Name;
  readonly to_number: string;
}

/** Lets requests and commits have their turn, which need a few milliseconds of real time. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 3));

/** Dials a list by two services, and returns what must not be, as lines, and what happened. */
export const servicesChaos = async ({ home, contacts, kills, seed }: ServicesChaos) => {
  const random = randomOf(seed);
  const realNow = Date.now;
  let ahead = 0;
  Date.now = () => realNow() + ahead;
  const folder = mkdtempSync(join(tmpdir(), "services-"));
  const faults: string[] = [];
  const counts = { posts: 0, killed: 0, down: 0, forged: 0, lost: 0 };
  const placed: Placed[] = [];
  /** At which service an attempt may have been placed. */
  const open = new Map<string, Name>();
  const killsAt = new Set(
    Array.from({ length: kills }, (_, kill) => Math.floor(((kill + random()) * contacts) / kills)),
  );
  let engine: Engine;
  const downFrom = Date.now() + 1_000;
  const isDown = (name: Name): boolean =>
    name === "main" && Date.now() > downFrom && Date.now() < downFrom + 2 * minute;

  /** The other service sends an end of the attempt, to its own handler, at a URL that it has got hold of. */
  const forge = async (name: Name, url: string): Promise<void> => {
    const other = name === "main" ? "spare" : "main";
    const context = await verifyUrl(url, { secret });
    const event = parse(CallEvent, {
      type: "call.failed",
      call_id: "forged",
      data: { reason: "busy" },
    });
    counts.forged++;
    const isTaken = await engine.note({ context, event }, { service: other }).catch(() => false);
    if (isTaken) faults.push(`a forged notification counted: ${JSON.stringify(context)}`);
  };

  const serviceOf = (name: Name) => {
    const webhookSecret = `whsec_${Buffer.from(name.repeat(8)).toString("base64")}`;
    const status = callbackHandler({
      secret,
      webhookSecret,
      onEvent: (received) => engine.note(received, { service: name }),
      onError: () => {},
    });
    const emulator = createEmulator({
      webhookSecret,
      clock: "instant",
      seed: seed + names.indexOf(name),
      keep: 10 * contacts,
      onCall: ({ to_number }) => ({
        outcome: Number(to_number.slice(-3)) % 7 === 0 ? "busy" : "answer",
      }),
      fetch: async (request) => {
        if (!new URL(request.url).pathname.includes("/status")) {
          return Response.json({ action: "hangup" });
        }
        if (engine.isDead) return new Response(null, { status: 503 });
        if (random() < 0.1) {
          counts.lost++;
          return new Response(null, { status: 204 });
        }
        return status(request);
      },
    });
    const account = {
      apiKey: emulator.apiKey,
      baseUrl: "https://emulator.test",
      fetch: emulator.fetch,
    };
    const post: CampaignOptions["create"] = async (params, limits) => {
      if (engine.isDead) return new Promise(() => {});
      const { campaign, contact, attempt } = await verifyUrl(params.status_callback_url, {
        secret,
      });
      const key = `${campaign}/${contact}/${attempt}`;
      if (engine.isDead) return new Promise(() => {});
      if (isDown(name)) {
        counts.down++;
        throw new NetworkException("refused", { placed: "no" });
      }
      const luck = random();
      if (luck < 0.04) {
        throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 1 });
      }
      if (luck < 0.06) throw new ServiceException("HTTP 400", { placed: "no", code: 400 });
      const at = open.get(key);
      if (at) faults.push(`${key}: a POST to ${name}, was at ${at}`);
      open.set(key, name);
      const isKilled = killsAt.delete(counts.posts++);
      if (isKilled && random() < 0.5) {
        counts.killed++;
        await engine.kill();
        return new Promise(() => {});
      }
      const call = await calls.create(params, { ...account, ...limits });
      placed.push({ key, service: name, to_number: params.to_number });
      await forge(name, params.status_callback_url);
      if (isKilled) {
        counts.killed++;
        await engine.kill();
        return new Promise(() => {});
      }
      if (luck > 0.92) throw new ServiceException("cut", { placed: "maybe" });
      return call;
    };
    return { emulator, functions: { create: post, get: (id: string) => get(id, account) } };
  };
  const main = serviceOf("main");
  const spare = serviceOf("spare");
  engine = await homes[home](
    folder,
    { secret, services: { main: main.functions, spare: spare.functions } },
    {
      services: names.map((name) => ({
        name,
        from_number: name === "main" ? "+12025550198" : "+12025550199",
        flow_url: `https://app.test/${name}/flow`,
        status_callback_url: `https://app.test/${name}/status`,
        rate: 100,
        concurrency: 12,
      })),
      retryOn: { busy: { after: minute } },
      settleTimeout: 10 * minute,
      window: "always",
    },
  );
  try {
    await engine.add(
      Array.from({ length: contacts }, (_, index) => ({ to_number: numberOf(1_000 + index) })),
    );
    await engine.resume();
    const horizon = Date.now() + 6 * 60 * minute;
    for (let rounds = 0; ; rounds++) {
      if (engine.isDead) engine = await engine.reopen();
      const wake = await engine.step();
      await turn();
      if (engine.isDead) continue;
      if ((await engine.progress()).done) break;
      if (Date.now() > horizon || rounds > 100_000) {
        faults.push(`it has not ended: ${JSON.stringify(await engine.progress())}`);
        break;
      }
      const next = wake ?? Number.POSITIVE_INFINITY;
      ahead += Math.max(rounds % 8 === 0 ? 20 : 1, Math.min(next - Date.now(), 5_000));
    }
    const results: Result[] = [];
    for await (const result of engine.results()) results.push(result);
    faults.push(...faultsIn(results, placed, contacts));
    const at = (name: Name): number => placed.filter(({ service }) => service === name).length;
    return {
      faults: faults.slice(0, 12),
      summary: { home, contacts, seed, ...counts, main: at("main"), spare: at("spare") },
    };
  } finally {
    await engine.close();
    for (const { emulator } of [main, spare]) await emulator.close();
    Date.now = realNow;
    rmSync(folder, { recursive: true });
  }
};

/** What must not be, as lines. */
const faultsIn = (
  results: readonly Result[],
  placed: readonly Placed[],
  contacts: number,
): readonly string[] => {
  const faults: string[] = [];
  if (results.length !== contacts) faults.push(`${results.length} rows`);
  const keys = placed.map(({ key }) => key);
  for (const key of new Set(keys)) {
    if (keys.indexOf(key) !== keys.lastIndexOf(key)) faults.push(`${key}: 2 calls`);
  }
  for (const { to_number, disposition, attempts, call_id, service } of results) {
    const own = placed.filter((each) => each.to_number === to_number);
    const say = (text: string): number => faults.push(`${to_number}: ${text}`);
    if (disposition === undefined) say("has not ended");
    if (attempts > 2) say(`${attempts} attempts`);
    if (own.length > attempts) say(`${own.length} calls, ${attempts} attempts`);
    if (disposition === "unknown" && call_id !== undefined) say("is unknown, and its id was known");
    if (call_id === "forged") say("has the id of a forged call");
    const last = own.find(({ key }) => key.endsWith(`/${attempts}`));
    if (last && last.service !== service) say(`is at ${service}, was called by ${last.service}`);
  }
  return faults;
};
