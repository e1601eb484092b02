import { expect, inject, onTestFinished } from "vitest";
import type { CallEvent } from "../../src/callbacks/index.ts";
import { serveNode } from "../../src/cli/serve.ts";
import { type Emulator, emulate } from "../../src/emulator/emulator.ts";
import type { EmulatorOptions } from "../../src/emulator/options.ts";
import { Speech } from "../../src/exchange/sounds.ts";
import { openTelephones } from "../../src/exchange/telephones.ts";
import { Client } from "../../src/index.ts";
import type { MediaApplication } from "./media-application.ts";
import type { ProvidedExchange } from "./setup.ts";
import { hear, isAudible, voice } from "./telephone/ear.ts";
import { Telephone, type TelephoneCall } from "./telephone/telephone.ts";

export const from = "+12025550199";
export const to = "+12025550150";

let applications = 0;

/** An exchange with its telephones, until the test is over. */
export interface Stage {
  readonly exchange: Emulator;
  readonly client: Client;
  /** The telephone of every number that has no other. */
  readonly telephone: Telephone;
  /** Gives a number a telephone of its own. */
  readonly addTelephone: (number: string) => Promise<Telephone>;
}

/** An Asterisk, and how it reaches numbers; without a rule, the telephones themselves. */
export interface StageExchange extends Pick<ProvidedExchange, "asterisk" | "speech"> {
  readonly endpoint?: (number: string) => string;
}

/**
 * Opens a stage whose application answers in this process.
 *
 * @param kept - how much of the applications' audio is kept of a call, in milliseconds
 */
export const openStage = async (
  options: EmulatorOptions,
  { asterisk, speech, endpoint }: StageExchange = inject("exchange"),
  kept: number = Number.POSITIVE_INFINITY,
): Promise<Stage> => {
  const telephone = await Telephone.open();
  const others = new Map<string, Telephone>();
  const telephones = await openTelephones({
    ari: { ...asterisk, app: `app${process.pid}x${++applications}` },
    endpoint: (number) => {
      if (!number.startsWith("+")) return;
      if (endpoint) return endpoint(number);
      const { address, port } = others.get(number) ?? telephone;
      return `PJSIP/trunk/sip:${number}@${address}:${port}`;
    },
    speech,
  });
  const exchange = emulate(options, { telephones, kept });
  onTestFinished(async () => {
    await exchange.close();
    telephones.close();
    for (const each of [telephone, ...others.values()]) each.close();
  });
  const client = new Client(() => exchange.apiKey, {
    baseUrl: "https://exchange.test",
    fetch: exchange.fetch,
  });
  const addTelephone = async (number: string) => {
    const added = await Telephone.open();
    others.set(number, added);
    return added;
  };
  return { exchange, client, telephone, addTelephone };
};

/** The same on a port, for clients of others and programs of their own. */
export const openServedStage = async (options: EmulatorOptions) => {
  const stage = await openStage({ host: "127.0.0.1", ...options });
  const handler = (request: Request) => stage.exchange.fetch(request);
  const { port, stop } = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(stop);
  return { ...stage, baseUrl: `http://127.0.0.1:${port}` };
};

/** What the program that speaks makes of a text, at the rate of a telephone. */
export const spoken = (text: string): Promise<Int16Array> =>
  new Speech(inject("exchange").speech).speak(text, to);

export const urls = {
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
} as const;

/** Calls the telephone of a stage, and returns the call as it came there. */
export const placeCall = async ({ client, telephone }: Pick<Stage, "client" | "telephone">) => {
  const ringing = telephone.next();
  const { id } = await client.calls.create({ from_number: from, to_number: to, ...urls });
  return { id, call: await ringing };
};

/** An application with one answer for each path, which keeps the notifications. */
export const applicationOf = (answers: Readonly<Record<string, object>>) => {
  const events: CallEvent[] = [];
  const asked: { readonly path: string; readonly fields: Record<string, unknown> }[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname: path } = new URL(request.url);
    const fields = await request.json();
    if (path === "/status") {
      events.push(fields);
      return new Response(null, { status: 204 });
    }
    asked.push({ path, fields });
    const answer = answers[path];
    return answer ? Response.json(answer) : new Response(null, { status: 404 });
  };
  return { events, asked, fetch };
};

/** When a telephone has heard a sound, in milliseconds since the answer. */
interface HeardAt {
  readonly from: number;
  readonly to: number;
  /** The packet after it. */
  readonly next: number;
}

/**
 * Waits until a telephone has heard a sound.
 *
 * @param least - how much of it: a prompt is heard whole, with gaps where the machine stalled
 * @param after - the packet from which on it counts
 */
export const hears = async (
  call: TelephoneCall,
  sound: Int16Array,
  least = 0.9,
  after = 0,
): Promise<HeardAt> => {
  // As many packets as it has are the least in which it can be.
  await until(() => call.isOver || (call.packets.length - after) * 160 >= least * sound.length);
  for (;;) {
    const { isOver, packets, answeredAt } = call;
    const heard = packets.slice(after);
    const { share, first, last } = hear(
      sound,
      heard.map(({ samples }) => samples),
    );
    const ms = (at: number) => (heard[at]?.at ?? Number.NaN) - answeredAt;
    if (share > least) return { from: ms(first), to: ms(last), next: after + last + 1 };
    if (isOver) throw new Error(`The telephone has heard ${Math.round(100 * share)} % of it`);
    await pause(500);
  }
};

/** How much of a voice is enough to know it, on a machine that stalls: what is late is dropped. */
const live = 0.5;

/** Lets one telephone speak, again and again, until the other has heard it. */
export const speakUntilHeard = async (
  speaker: TelephoneCall,
  listener: TelephoneCall,
  sound: Int16Array,
): Promise<void> => {
  let isHeard = false;
  const speaking = async () => {
    while (!isHeard) await speaker.speak(sound);
  };
  const listening = hears(listener, sound, live).finally(() => {
    isHeard = true;
  });
  await Promise.all([listening, speaking()]);
  speaker.hush();
};

/** Waits for a while, as people do. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until a condition holds. */
export const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await pause(10);
};

/** What an application and a telephone do on a media socket: play, speak, press and drop, each heard at the other end. */
export const talkOverMedia = async (
  call: TelephoneCall,
  media: MediaApplication,
): Promise<void> => {
  await until(media.isOpen);
  const played = voice(4, 1_500);
  media.play(played, "played");
  await hears(call, played);
  await until(() => media.answers.includes("played"));
  const spokenTo = voice(5, 1_000);
  while (hear(spokenTo, media.frames).share < live) {
    await call.speak(spokenTo);
    await pause(1_200);
  }
  await call.press("5");
  await until(() => media.keys() === "5");
  const before = call.packets.length;
  const long = voice(6, 20_000);
  media.play(long, "dropped");
  await hears(call, long.subarray(0, 8_000), 0.9, before);
  media.clear();
  // What was dropped is over long before it would have been played.
  const isQuiet = () => !call.packets.slice(-25).some(({ samples }) => isAudible(samples));
  await until(isQuiet);
  expect(call.packets.length - before).toBeLessThan(800);
};

/** Both channels of a WAV: the callee's, and what the callee has heard. */
export const channelsOf = (file: Uint8Array) => {
  const view = new DataView(file.buffer, file.byteOffset + 44);
  const count = Math.floor(view.byteLength / 4);
  const channel = (at: number) =>
    Int16Array.from({ length: count }, (_, index) => view.getInt16(4 * index + 2 * at, true));
  return { left: channel(0), right: channel(1) };
};
