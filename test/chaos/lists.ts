// A list in one process, on a virtual clock: the engine on a file or on Durable Objects, a carrier's emulator, and
// everything that may go wrong between them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callbackHandler } from "../../src/callbacks/handler.ts";
import { verifyUrl } from "../../src/callbacks/signed-url.ts";
import { create, end, get } from "../../src/calls/index.ts";
import type { CampaignOptions, Result } from "../../src/campaigns/index.ts";
import { telnyx } from "../../src/carriers/telnyx/index.ts";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { vonage } from "../../src/carriers/vonage/index.ts";
import { type CallRecord, createEmulator } from "../../src/emulator/index.ts";
import { ServiceException } from "../../src/errors.ts";
import { calls as own } from "../../src/fetch.ts";
import { flowHandler } from "../../src/flows/handler.ts";
import { gather, say } from "../../src/flows/say.ts";
import { carriers } from "../carriers/carriers.ts";
import { randomOf } from "../random.ts";
import { accountSid } from "../telnyx/stage.ts";
import { numberOf } from "../unit/campaigns/stage.ts";
import { type Engine, type Home, homes } from "./homes.ts";

export interface ListChaos {
  readonly service: "outdial" | "twilio" | "vonage" | "telnyx";
  readonly home: Home;
  readonly contacts: number;
  readonly kills: number;
  readonly stops: number;
  readonly seed: number;
  /** The share of the notifications that never arrive. */
  readonly lost: number;
  /** Milliseconds for which the receiver is away: then every POST is answered, and no contact may end as unknown. */
  readonly away?: number;
}

const minute = 60_000;
const secret = "a secret that was made at random";

/** The carrier's service, which detects machines, and its emulator. */
const carrierOf = (name: string) => {
  const carrier = carriers.find((one) => one.name === name);
  if (!carrier) return;
  const account = String(carrier.service.account);
  const options = { machineDetection: "detect", callsPerSecond: 1_000 } as const;
  const services = {
    twilio: () => twilio({ accountSid: account, ...options }),
    telnyx: () => telnyx({ applicationId: account, accountSid, ...options }),
    vonage: () => vonage({ applicationId: account, ...options }),
  };
  const service = services[name as keyof typeof services]();
  return { service, emulated: carrier.emulated, keyOf: carrier.keyOf };
};

/** How a call to a number ends. */
const endOf = (to_number: string) => {
  const index = Number(to_number.slice(-4));
  if (index % 7 === 0) return { outcome: "busy" } as const;
  if (index % 11 === 0) return { outcome: "reject" } as const;
  if (index % 5 === 0) return { outcome: "answer", answeredBy: "machine", greeting: 500 } as const;
  return { outcome: "answer" } as const;
};

/** The keys that a contact presses: the second question gets another answer at each attempt. */
const keysOf = (to_number: string, attempt: number): readonly string[] => {
  const index = Number(to_number.slice(-4));
  return [index % 13 === 0 && attempt === 1 ? "0" : String((index % 3) + 1), String(attempt)];
};

/** Something that happens at a time of the virtual clock. */
interface Planned {
  readonly at: number;
  readonly run: () => unknown;
}

interface Key {
  readonly campaign: unknown;
  readonly contact: unknown;
  readonly attempt: number;
}

const textOf = ({ campaign, contact, attempt }: Key): string => `${campaign}/${contact}/${attempt}`;

/** Lets requests and commits have their turn, which need a few milliseconds of real time. */
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 3));

/** Dials a list through every mishap, and returns what must not be, as lines, and what happened. */
export const listChaos = async (chaos: ListChaos) => {
  const { service: name, home, contacts, kills, stops, seed, lost, away = 0 } = chaos;
  const random = randomOf(seed);
  const began = performance.now();
  const realNow = Date.now;
  let ahead = 0;
  Date.now = () => realNow() + ahead;
  const folder = mkdtempSync(join(tmpdir(), "lists-"));
  const faults: string[] = [];
  const counts = { posts: 0, killed: 0, stopped: 0, ended: 0, sent: 0, lost: 0, asked: 0 };
  const planned: Planned[] = [];
  const plan = (after: number, run: () => unknown): void => {
    planned.push({ at: Date.now() + after, run });
  };
  // Behind the emulator's own numbers, of which some are refused again and again.
  const people = Array.from({ length: contacts }, (_, index) => ({
    to_number: numberOf(1_000 + index),
  }));
  const posts = new Map<string, { readonly to_number: string; id?: string; isKnown: boolean }>();
  /** Answers whose commit was confirmed, by attempt. */
  const committed = new Map<string, Record<string, string>>();
  const agreed = new Set<string>();
  const pressed = new Map<string, number>();
  let isStopped = false;
  let engine: Engine;
  let awayUntil = 0;

  const carrier = carrierOf(name);
  const service = carrier?.service;
  const isAway = (): boolean => engine.isDead || Date.now() < awayUntil;
  const flow = flowHandler({
    secret,
    ...(service && { service }),
    onInput: async (input) => {
      const key = textOf(input.context as unknown as Key);
      if (!(await engine.note(input))) return;
      committed.set(key, { ...committed.get(key), ...input.answers });
    },
    onAnswer: () =>
      gather("Shall we visit you?", { digits: 1, as: "visit", next: "price", otherwise: "thanks" }),
    onMachine: () => say("Please call us back."),
    steps: {
      price: async ({ digits, call, context }) => {
        if (digits === "0") {
          const at = new Date(Date.now() + 5 * minute);
          if (await engine.callBack(call.to_number, at))
            agreed.add(textOf(context as unknown as Key));
        }
        return gather("How much?", { digits: 1, as: "price", next: "thanks" });
      },
      thanks: () => say("Thank you."),
    },
    onError: () => {},
  });
  const status = callbackHandler({
    secret,
    ...(service && { service }),
    onEvent: (received) => engine.note(received),
    onError: () => {},
  });
  const deliver = async (request: Request): Promise<Response> => {
    if (isAway()) return new Response(null, { status: 503 });
    return status(request);
  };
  /** Carries notifications as badly as a network may. */
  const carry = async (request: Request): Promise<Response> => {
    counts.sent++;
    // By count: in a short run, chance may spare all of them.
    if (Math.floor(counts.sent * lost) > Math.floor((counts.sent - 1) * lost)) {
      counts.lost++;
      return new Response(null, { status: 204 });
    }
    const body = await request.arrayBuffer();
    const { method, url, headers } = request;
    const again = (): Request =>
      new Request(url, { method, headers, ...(method !== "GET" && { body }) });
    const later = async (): Promise<void> => {
      const { ok } = await deliver(again()).catch(() => ({ ok: false }));
      if (!ok) plan(Math.max(5_000, awayUntil - Date.now()), later);
    };
    if (random() < 0.2) plan(random() * 60_000, later);
    if (random() < 0.3) {
      plan(random() * 120_000, later);
      return new Response(null, { status: 204 });
    }
    return deliver(again());
  };
  const emulator = createEmulator({
    ...carrier?.emulated,
    ...(service && { service }),
    clock: "instant",
    seed,
    keep: 10 * contacts,
    onCall: ({ to_number }) => endOf(to_number),
    callee: function* ({ to_number }) {
      if ("answeredBy" in endOf(to_number)) return;
      const attempt = (pressed.get(to_number) ?? 0) + 1;
      pressed.set(to_number, attempt);
      for (const digits of keysOf(to_number, attempt)) {
        yield { type: "until-prompt" };
        yield { type: "press", digits };
      }
    },
    fetch: async (request) => {
      if (new URL(request.url).pathname.startsWith("/status")) return carry(request);
      if (engine.isDead) return new Response(null, { status: 503 });
      // Some calls stay live for a while: their time stands still while the application thinks.
      if (random() < 0.15) {
        await new Promise<void>((resolve) => plan(random() * 20_000, resolve));
      }
      return engine.isDead ? new Response(null, { status: 503 }) : flow(request);
    },
  });
  const account = {
    apiKey: carrier?.keyOf(emulator) ?? emulator.apiKey,
    baseUrl: "https://emulator.test",
    fetch: emulator.fetch,
    ...(service && { service }),
  };
  const killsAt = new Set(
    Array.from({ length: kills }, (_, kill) => Math.floor(((kill + random()) * contacts) / kills)),
  );
  const kill = async (): Promise<void> => {
    counts.killed++;
    await engine.kill();
  };
  const post: CampaignOptions["create"] = async (params, limits) => {
    if (engine.isDead) return new Promise(() => {});
    const context = (await verifyUrl(String(params.status_callback_url), {
      secret,
    })) as unknown as Key;
    if (engine.isDead) return new Promise(() => {});
    const luck = away > 0 ? 0.5 : random();
    const detail = "HTTP 429";
    if (luck < 0.05) throw new ServiceException(detail, { placed: "no", code: 429, retryAfter: 1 });
    if (isStopped) faults.push(`${textOf(context)}: a POST after the stop`);
    if (luck < 0.08) throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
    const isKilled = killsAt.delete(counts.posts++);
    if (isKilled && random() < 0.5) {
      await kill();
      return new Promise(() => {});
    }
    const key = textOf(context);
    if (posts.has(key)) faults.push(`${key}: 2 POSTs`);
    const { to_number } = params;
    const record = { to_number, isKnown: false, id: "" };
    posts.set(key, record);
    const placed = await (service ? create : own.create)(params, { ...account, ...limits });
    record.id = placed.id;
    if (isKilled) {
      await kill();
      return new Promise(() => {});
    }
    if (luck > 0.92) throw new ServiceException("cut", { placed: "maybe" });
    record.isKnown = true;
    return placed;
  };
  const options = {
    secret,
    create: post,
    get: (id: string) => {
      counts.asked++;
      return get(id, account);
    },
    end: (id: string) => end(id, account),
    ...(service && { service }),
  };
  const open = homes[home];
  engine = await open(folder, options, {
    from_number: ["+12025550197", "+12025550198"],
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    rate: 250,
    concurrency: 40,
    retryOn: { busy: { after: 2 * minute }, machine: { after: 10 * minute } },
    settleTimeout: 20 * minute,
    window: "always",
  });
  const stateOf = (id: string | undefined): CallRecord | undefined =>
    emulator.calls.find((call) => call.id === id);
  const stop = async (): Promise<void> => {
    if (engine.isDead) return plan(1_000, stop);
    counts.stopped++;
    const ending = engine.endCalls().then(
      (result) => {
        counts.ended += result.ended;
        if (result.failed.length > 0) faults.push(`${result.failed.length} calls were not ended`);
        isStopped = true;
      },
      () => {}, // It was killed meanwhile.
    );
    plan(30_000, async () => {
      await ending;
      isStopped = false;
      if (engine.isDead) return plan(1_000, () => engine.resume());
      await engine.resume();
    });
  };
  await engine.add(people);
  await engine.resume();
  for (let each = 0; each < stops; each++) plan((each + 1) * 45_000, stop);
  if (away > 0) plan(2_000, () => (awayUntil = Date.now() + away));
  const horizon = Date.now() + 12 * 3_600_000;
  try {
    for (let rounds = 0; ; rounds++) {
      if (engine.isDead) engine = await engine.reopen();
      const due = planned.filter(({ at }) => at <= Date.now());
      for (const each of due) planned.splice(planned.indexOf(each), 1);
      for (const { run } of due) Promise.resolve(run()).catch(() => {});
      const wake = await engine.step();
      await turn();
      if (engine.isDead) continue;
      if ((await engine.progress()).done && planned.length === 0) break;
      if (Date.now() > horizon || rounds > 200_000) {
        faults.push(`it has not ended: ${JSON.stringify(await engine.progress())}`);
        break;
      }
      const next = Math.min(wake ?? Number.POSITIVE_INFINITY, ...planned.map(({ at }) => at));
      // A step of its own time for what is under way.
      ahead += Math.max(rounds % 8 === 0 ? 20 : 1, Math.min(next - Date.now(), 5_000));
    }
    const results: Result[] = [];
    for await (const result of engine.results()) results.push(result);
    if (results.length !== contacts) faults.push(`${results.length} rows`);
    if (away > 0 && results.some(({ disposition }) => disposition === "unknown")) {
      faults.push("the receiver was away, and a contact is unknown");
    }
    faults.push(...faultsIn({ results, posts, committed, agreed, stateOf }));
    const of = (...dispositions: readonly string[]): number =>
      results.filter(({ disposition = "" }) => dispositions.includes(disposition)).length;
    return {
      faults: faults.slice(0, 12),
      summary: {
        ...{ service: name, home, contacts, seed, ...counts },
        answered: results.filter(({ answers }) => Object.keys(answers).length > 0).length,
        callBacks: agreed.size,
        ...{
          completed: of("completed"),
          machines: of("machine", "message_left"),
          unknown: of("unknown"),
        },
        seconds: Math.round((performance.now() - began) / 100) / 10,
      },
    };
  } finally {
    await engine.close();
    emulator.reset();
    await emulator.close();
    Date.now = realNow;
    rmSync(folder, { recursive: true });
  }
};

interface Outcome {
  readonly results: readonly Result[];
  readonly posts: ReadonlyMap<string, { readonly to_number: string; readonly id?: string }>;
  readonly committed: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly agreed: ReadonlySet<string>;
  readonly stateOf: (id: string | undefined) => CallRecord | undefined;
}

const talks: readonly string[] = ["completed", "machine", "message_left", "flow_error"];

/** What must not be, as lines. */
const faultsIn = ({ results, posts, committed, agreed, stateOf }: Outcome): readonly string[] => {
  const faults: string[] = [];
  const byNumber = new Map<string, { readonly attempt: number; readonly key: string }[]>();
  for (const [key, { to_number }] of posts) {
    const own = byNumber.get(to_number) ?? [];
    own.push({ attempt: Number(key.split("/").at(-1)), key });
    byNumber.set(to_number, own);
  }
  for (const { to_number, disposition, attempts, call_id, answers } of results) {
    const own = (byNumber.get(to_number) ?? []).sort((one, other) => one.attempt - other.attempt);
    const say = (text: string): number => faults.push(`${to_number}: ${text}`);
    const limit = 2 + own.filter(({ key }) => agreed.has(key)).length;
    if (attempts > limit) say(`${attempts} attempts, at most ${limit}`);
    if (own.length > attempts) say(`${own.length} POSTs, ${attempts} attempts`);
    if (disposition === undefined) say("has not ended");
    if (disposition === "unknown" && call_id !== undefined) say("is unknown, and its id was known");
    const wanted: Record<string, string> = {};
    for (const { key } of own) Object.assign(wanted, committed.get(key));
    for (const [name, value] of Object.entries(wanted)) {
      if (answers[name] !== value) say(`${name} is ${answers[name]}, was ${value}`);
    }
    for (const [name, value] of Object.entries(answers)) {
      const possible = own.map(
        ({ attempt }) => keysOf(to_number, attempt)[name === "visit" ? 0 : 1],
      );
      if (!possible.includes(value)) say(`${name} is ${value}, pressed were ${possible}`);
    }
    const last = own.find(({ attempt }) => attempt === attempts);
    const call = stateOf(posts.get(last?.key ?? "")?.id);
    if (call_id !== undefined && call?.id === call_id && disposition) {
      const isTalk = call.state === "completed";
      if (isTalk !== talks.includes(disposition))
        say(`is ${disposition}, the call is ${call.reason}`);
    }
    for (const { key, attempt } of own) {
      const isOver = attempt < attempts || disposition === "unknown" || disposition === "blocked";
      if (agreed.has(key) && !isOver) say(`was not called back after attempt ${attempt}`);
    }
  }
  return faults;
};
