import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/options.ts";
import { readWav } from "../../src/emulator/recording/wav.ts";
import type { Asterisk } from "./asterisk/asterisk.ts";
import { startTrunk, type Trunk, type TrunkName } from "./asterisk/trunk.ts";
import {
  applicationOf,
  from,
  hears,
  openStage,
  pause,
  placeCall,
  spoken,
  to,
  until,
  urls,
} from "./stage.ts";
import { shareOf, voice } from "./telephone/ear.ts";
import type { TelephoneCall } from "./telephone/telephone.ts";

let trunk: Trunk;
let exchange: Asterisk;

beforeAll(async () => {
  trunk = await startTrunk(inject("exchange").installed);
  exchange = await trunk.startExchange();
  await untilRegistered();
});

afterAll(async () => {
  await exchange?.stop();
  await trunk?.stop();
});

const untilRegistered = async (): Promise<void> => {
  while (!(await trunk.isRegistered())) await pause(50);
};

/** A stage whose telephone is behind the trunk. */
const openBehind = async (options: EmulatorOptions, trunkOf: (number: string) => TrunkName) => {
  const { speech } = inject("exchange");
  const endpoint = (number: string) => `PJSIP/${number}@${trunkOf(number)}`;
  const stage = await openStage(options, { asterisk: exchange, speech, endpoint });
  await trunk.connect(stage.telephone);
  return stage;
};

type Behind = Awaited<ReturnType<typeof openBehind>>;

const question = "Press one to confirm.";
const thanks = "Thank you. Goodbye.";
const gather = { action: "gather", prompts: [{ text: question }], digits: 1, timeout_ms: 8_000 };
const asking = () =>
  applicationOf({
    "/flow": { ...gather, flow_url: "https://app.test/key" },
    "/key": { action: "say", prompts: [{ text: thanks }] },
  });

/** What Asterisk says of a call's channel. */
const variableOf = async (id: string, variable: string): Promise<unknown> => {
  const { url, user, password } = exchange;
  const query = new URLSearchParams({ variable });
  const response = await fetch(`${url}/ari/channels/${id}/variable?${query}`, {
    headers: { Authorization: `Basic ${btoa(`${user}:${password}`)}` },
  });
  const { value } = await response.json();
  return value;
};

test.each([
  ["plain", "0"],
  ["secure", "1"],
] as const)(
  "behind a %s trunk a telephone shows the number, hears the question and presses",
  async (name, isEncrypted) => {
    const app = asking();
    const stage = await openBehind({ fetch: app.fetch }, () => name);
    const { id, call } = await placeCall(stage);
    expect([call.to, call.from]).toEqual([to, from]);
    call.ring();
    await call.answer();
    await hears(call, await spoken(question));
    expect(await variableOf(id, "CHANNEL(rtp,secure)")).toBe(isEncrypted);
    await call.press("1");
    await hears(call, await spoken(thanks));
    expect(await call.ended).toBe("caller");
    const { state, reason } = await stage.exchange.ended(id);
    expect([state, reason]).toEqual(["completed", "normal"]);
    expect(app.asked.map(({ path, fields }) => [path, fields.digits])).toEqual([
      ["/flow", undefined],
      ["/key", "1"],
    ]);
  },
);

/** Places a call, and returns how it ended. */
const ends = async ({ client, exchange: stage }: Behind, to_number: string) => {
  const { id } = await client.calls.create({ from_number: from, to_number, ...urls });
  const { state, reason } = await stage.ended(id);
  return `${state} ${reason}`;
};

test("a call that the trunk doesn't take ends as documented, and no telephone rings", async () => {
  const endings: Readonly<Partial<Record<TrunkName, string>>> = {
    "wrong-password": "failed unreachable",
    unregistered: "failed rejected",
    "foreign-authority": "failed unreachable",
    "without-srtp": "failed unreachable",
  };
  const names = Object.keys(endings) as TrunkName[];
  const numberOf = (at: number) => `+1202555016${at}`;
  const app = applicationOf({});
  const stage = await openBehind(
    { fetch: app.fetch },
    (number) => names[Number(number.at(-1))] ?? "plain",
  );
  const ended = await Promise.all(names.map((_, at) => ends(stage, numberOf(at))));
  expect(Object.fromEntries(names.map((name, at) => [name, ended[at]]))).toEqual(endings);
  expect(stage.telephone.calls).toEqual([]);
  expect(app.asked).toEqual([]);
});

test("what a telephone behind the trunk does not answer ends as without a trunk", async () => {
  const ring = async (call: TelephoneCall) => {
    call.ring();
    await pause(200);
  };
  const table: Readonly<Record<string, readonly [(call: TelephoneCall) => unknown, string]>> = {
    "+12025550170": [(call) => call.refuse(486), "failed busy"],
    "+12025550171": [(call) => call.refuse(603), "failed rejected"],
    "+12025550172": [(call) => call.refuse(404), "failed unreachable"],
    "+12025550173": [ring, "failed no_answer"],
  };
  const stage = await openBehind(
    { fetch: applicationOf({}).fetch, answerTimeout: 3_000 },
    () => "secure",
  );
  stage.telephone.behave((call) => table[call.to]?.[0](call));
  const numbers = Object.keys(table);
  const ended = await Promise.all(numbers.map((number) => ends(stage, number)));
  expect(ended).toEqual(numbers.map((number) => table[number]?.[1]));
  expect(stage.telephone.calls.map((call) => call.to).sort()).toEqual(numbers);
});

/** Rings for all numbers, and refuses the calls of one as busy. */
const refuseOnly = (number: string) => (call: TelephoneCall) => {
  call.ring();
  if (call.to === number) call.refuse(486);
};

const callsOf = ({ telephone }: Behind, number: string) =>
  telephone.calls.filter((call) => call.to === number);

/** By UDP a request is repeated for 32 s, and can't be taken back before its first response: if it rings late, it is canceled at once. */
const expectOnlyCanceled = async (stage: Behind, number: string): Promise<void> => {
  const [late, ...others] = callsOf(stage, number);
  if (late) expect(await late.ended).toBe("cancel");
  expect(others).toEqual([]);
};

test.each([
  ["plain", "+12025550151"],
  ["secure", "+12025550152"],
] as const)(
  "while a %s trunk is away calls fail, and once it is back the next call rings once",
  async (name, failing) => {
    const stage = await openBehind(
      { fetch: applicationOf({}).fetch, answerTimeout: 3_000 },
      () => name,
    );
    stage.telephone.behave(refuseOnly(to));
    await trunk.kill();
    expect(await ends(stage, failing)).toBe("failed unreachable");
    await trunk.restart();
    await untilRegistered();
    expect(await ends(stage, to)).toBe("failed busy");
    expect(callsOf(stage, to)).toHaveLength(1);
    // By TLS it is gone with its connection.
    if (name === "secure") expect(callsOf(stage, failing)).toEqual([]);
    await expectOnlyCanceled(stage, failing);
  },
);

test("a request that a stopped trunk finds when it goes on is canceled at once, and the next call rings once", async () => {
  const failing = "+12025550153";
  const stage = await openBehind(
    { fetch: applicationOf({}).fetch, answerTimeout: 3_000 },
    () => "plain",
  );
  stage.telephone.behave(refuseOnly(to));
  trunk.process().kill("SIGSTOP");
  try {
    expect(await ends(stage, failing)).toBe("failed unreachable");
  } finally {
    trunk.process().kill("SIGCONT");
  }
  expect(await ends(stage, to)).toBe("failed busy");
  expect(callsOf(stage, to)).toHaveLength(1);
  await expectOnlyCanceled(stage, failing);
});

test("what the network says before the answer is not an answer, and the flow hears nothing of it", async () => {
  const app = applicationOf({
    "/flow": { ...gather, flow_url: "https://app.test/key" },
    "/key": { action: "hangup" },
  });
  const stage = await openBehind({ fetch: app.fetch }, () => "plain");
  const { id, call } = await placeCall(stage);
  await call.playEarly();
  const announcement = voice(7, 1_500);
  await call.speak(announcement);
  await call.press("7");
  await until(() => app.events.some(({ type }) => type === "call.ringing"));
  await pause(2_000);
  expect(app.asked).toEqual([]);
  await call.answer();
  await hears(call, await spoken(question));
  await call.press("1");
  await call.ended;
  const { history, recording_url = "" } = await stage.exchange.ended(id);
  const recording = await stage.exchange.fetch(recording_url);
  const { samples } = readWav(new Uint8Array(await recording.arrayBuffer()));
  expect(shareOf(announcement, samples)).toBeLessThan(0.1);
  const pressed = history.flatMap((entry) => (entry.type === "press" ? [entry.digit] : []));
  expect(pressed).toEqual(["1"]);
  expect(app.asked.map(({ fields }) => fields.digits)).toEqual([undefined, "1"]);
});
