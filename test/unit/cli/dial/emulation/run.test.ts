import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import type { Contact, Script } from "../../../../../src/campaigns/index.ts";
import { telnyx } from "../../../../../src/carriers/telnyx/index.ts";
import { twilio } from "../../../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../../../src/carriers/vonage/index.ts";
import { assignCallees, calleesIn } from "../../../../../src/cli/dial/emulation/callees.ts";
import {
  type EmulationOptions,
  emulateCampaign,
} from "../../../../../src/cli/dial/emulation/run.ts";
import { watchScript } from "../../../../../src/cli/dial/emulation/script.ts";
import type { DialOptions } from "../../../../../src/cli/dial/options.ts";
import { gather, hangup, play, say, stream } from "../../../../../src/flows/index.ts";
import type { Service } from "../../../../../src/service.ts";

/** A Wednesday, noon in Berlin. */
const noon = Date.parse("2026-06-03T10:00:00Z");

const secret = "a secret that was made at random";

const services = {
  own: undefined,
  twilio: twilio({ accountSid: `AC${"0".repeat(32)}`, machineDetection: "message" }),
  vonage: vonage({
    applicationId: "00000000-0000-4000-8000-000000000000",
    machineDetection: "message",
  }),
  telnyx: telnyx({ applicationId: "1000000000000000000", machineDetection: "message" }),
};

const five = { 1: "price", 2: "price", 3: "price", 4: "price", 5: "price", 9: "stop" };

const survey: Script = {
  onMachine: () => hangup(),
  onAnswer: () => gather("How was your visit?", { digits: 1, as: "visit", on: five, tries: 2 }),
  steps: {
    price: () => gather("And the price?", { digits: 1, as: "price", next: "thanks" }),
    thanks: () => say("Thank you."),
    stop: async ({ contact, campaign }) => {
      await campaign.block(contact.to_number);
      return say("We will not call again.");
    },
  },
};

const people = (count: number): readonly Contact[] =>
  Array.from({ length: count }, (_, index) => ({
    to_number: `+49301${String(index).padStart(6, "0")}`,
  }));

interface Given extends Partial<Omit<EmulationOptions, "options">> {
  readonly contacts?: readonly Contact[];
  readonly callees?: string;
  readonly options?: Partial<DialOptions> & { readonly rate?: number };
  readonly service?: Service | undefined;
}

const emulated = ({
  contacts = people(20),
  callees,
  options: { rate, ...options } = {},
  service,
  ...more
}: Given = {}) =>
  emulateCampaign({
    database: new DatabaseSync(":memory:"),
    options: {
      services: [
        {
          from_number: "+12025550199",
          flow_url: "https://dry.run/flow",
          status_callback_url: "https://dry.run/status",
          service: service ?? "the emulator",
          ...(rate !== undefined && { rate }),
        },
      ],
      secret,
      window: "always",
      ...options,
    },
    script: survey,
    publicUrl: "https://calls.test/list",
    start: noon,
    seed: 1,
    sync: (campaign) => campaign.add(contacts),
    decide: callees ? (numbers) => assignCallees(calleesIn(callees), numbers, 1) : undefined,
    signal: new AbortController().signal,
    ...more,
  });

describe.each(Object.entries(services))("on the interface %s", (name, service) => {
  const callees = "machine=20%,busy=10%,press=1/4:40%,press=9:10%";

  test("a survey's answers add up, and each contact hears what the script says", async () => {
    const { results, progress, calls, errors } = await emulated({ service, callees });
    expect([...errors]).toEqual([]);
    // outdial's own interface doesn't find out that a machine has answered.
    expect(progress).toMatchObject({
      ...{ done: true, contacts: 20, busy: 2 },
      ...(service ? { machine: 4, completed: 14 } : { completed: 18 }),
    });
    const answers = results.map((result) => JSON.stringify(result.answers)).sort();
    const none = Array.from({ length: 10 }, () => "{}");
    const both = Array.from({ length: 8 }, () => '{"visit":"1","price":"4"}');
    expect(answers).toEqual([...both, '{"visit":"9"}', '{"visit":"9"}', ...none].sort());
    for (const { to_number, answers } of results) {
      const [call, ...others] = calls.get(to_number) ?? [];
      expect(others).toEqual([]);
      if (!answers.price) continue;
      expect(call?.conversation).toEqual([
        { type: "hears", text: "How was your visit?" },
        { type: "presses", text: "1" },
        { type: "hears", text: "And the price?" },
        { type: "presses", text: "4" },
        { type: "hears", text: "Thank you." },
      ]);
    }
    const silent = [...calls.values()].filter(([call]) => call?.conversation.length === 4);
    expect(silent, name).toHaveLength(service ? 4 : 8);
  });

  test("the same seed gives the same in each run", async () => {
    const options = { rate: 1, retryOn: { busy: { after: 60_000 } } } as const;
    const run = () => emulated({ service, callees, options, contacts: people(8) });
    const [one, other] = [await run(), await run()];
    const withoutIds = ({ results, ...emulation }: typeof one) => ({
      ...emulation,
      results: results.map(({ call_id, ...result }) => result),
    });
    expect(withoutIds(one)).toEqual(withoutIds(other));
  });
});

test("functions of the script that no call reaches are named", async () => {
  const { script, unreached } = watchScript(survey);
  await emulated({ script, callees: "press=1:100%", contacts: people(2) });
  expect(unreached()).toEqual(["onMachine", "stop"]);
});

test("without callees the number decides, as in outdial emulator, also where the API fails", async () => {
  const last = ["00", "01", "02", "03", "04", "05", "10", "12", "13", "14", "15"];
  const contacts = last.map((digits) => ({ to_number: `+120255501${digits}` }));
  const { results, calls } = await emulated({ contacts });
  expect(results.map(({ disposition }) => disposition)).toEqual([
    ...["completed", "busy", "no_answer", "rejected", "unreachable", "completed"],
    ...["unknown", "completed", "completed", "completed", "completed"],
  ]);
  expect(calls.get("+12025550110")).toBeUndefined();
});

test("a call that was not placed is placed again as soon as it may be", async () => {
  const { results, to } = await emulated({ contacts: [{ to_number: "+12025550111" }] });
  expect(results[0]).toMatchObject({ disposition: "expired", attempts: 0 });
  expect(to - noon).toBeLessThan(120_000);
});

test("retries and blocked contacts are as in earnest", async () => {
  const { results, calls } = await emulated({
    ...{ callees: "busy=100%", contacts: people(3) },
    options: { retryOn: { busy: { after: 300_000, attempts: 3 } } },
  });
  expect(results.map(({ attempts }) => attempts)).toEqual([3, 3, 3]);
  const starts = (calls.get("+49301000000") ?? []).map(({ startedAt }) => startedAt - noon);
  expect(starts.map((at) => Math.round(at / 60_000))).toEqual([0, 5, 10]);
});

describe("the calling hours", () => {
  const hours = { days: "mon-fri", from: "09:00", to: "12:30", timezone: "Europe/Berlin" };
  /** To the minute: a call that was late is made up for. */
  const startsOf = async (given: Given): Promise<readonly string[]> =>
    [...(await emulated({ contacts: people(6), ...given })).calls.values()]
      .flat()
      .map(({ startedAt }) => new Date(Math.round(startedAt / 60_000) * 60_000))
      .map((at) => at.toISOString().slice(5, 16));

  test("what doesn't fit into a day goes on at the next opening, after the days off", async () => {
    const window = [{ ...hours, except: ["2026-06-04"] }];
    expect(await startsOf({ options: { rate: 1 / 600, window } })).toEqual([
      ...["06-03T10:00", "06-03T10:10", "06-03T10:20"],
      ...["06-05T07:00", "06-05T07:10", "06-05T07:20"],
    ]);
  });

  test("are those of the local clock, also after it was put back", async () => {
    // A Saturday: summer time ends in the night, and Sunday's opening is an hour later in UTC.
    const start = Date.parse("2026-10-24T07:00:00Z");
    const window = [{ ...hours, days: "fri-mon" }];
    expect(await startsOf({ start, options: { rate: 1 / 3600, window } })).toEqual([
      ...["10-24T07:00", "10-24T08:00", "10-24T09:00", "10-24T10:00"],
      ...["10-25T08:00", "10-25T09:00"],
    ]);
  });

  test("that open only after the end leave nobody called", async () => {
    const until = new Date(noon + 60_000);
    const window = [{ ...hours, days: "sun" }];
    const { progress, to } = await emulated({ options: { window, until } });
    expect(progress).toMatchObject({ done: true, expired: 20 });
    expect(to).toBe(until.getTime());
  });
});

test("a script that asks for ever ends, as its callee hangs up", async () => {
  const script: Script = {
    onAnswer: () => gather("Again?", { digits: 1, on: { 1: "again" } }),
    steps: { again: () => gather("Again?", { digits: 1, on: { 1: "again" } }) },
  };
  const { calls, progress } = await emulated({
    ...{ script, callees: "press=1:100%", contacts: people(1) },
  });
  expect(progress.completed).toBe(1);
  const conversation = calls.get("+49301000000")?.[0]?.conversation ?? [];
  expect(conversation.filter(({ text }) => text === "1")).toHaveLength(20);
});

test("what the script throws is reported with its count, and the flow of a media socket fails by name", async () => {
  const throwing: Script = {
    onAnswer: () => {
      throw new Error("no such appointment");
    },
  };
  const { errors } = await emulated({ script: throwing, contacts: people(3) });
  expect([...errors]).toEqual([["no such appointment", 3]]);
  const streaming: Script = { onAnswer: () => stream("wss://app.test/media") };
  const { calls, progress } = await emulated({ script: streaming, contacts: people(1) });
  expect(progress.flow_error).toBe(1);
  expect(calls.get("+49301000000")?.[0]?.conversation[0]?.text).toMatch(
    /instant clock|media socket/,
  );
});

test("nothing is requested of any host, recordings neither", async () => {
  const fetch = vi.spyOn(globalThis, "fetch");
  const script: Script = { onAnswer: () => play("https://media.test/hello.wav") };
  for (const service of Object.values(services)) {
    const { progress, calls } = await emulated({ service, script, contacts: people(2) });
    expect(progress.completed).toBe(2);
    expect(calls.get("+49301000000")?.[0]?.conversation).toEqual([
      { type: "hears", text: "https://media.test/hello.wav" },
    ]);
  }
  expect(fetch).not.toHaveBeenCalled();
});

test("a step's call-back is made at its time", async () => {
  const at = new Date(noon + 7_200_000);
  const script: Script = {
    onAnswer: async ({ contact, campaign }) => {
      if (contact.attempt === 1) await campaign.callBack(contact.to_number, at);
      return say("Later.");
    },
  };
  const { calls } = await emulated({ script, contacts: people(1) });
  const starts = calls.get("+49301000000")?.map(({ startedAt }) => startedAt - noon);
  expect(starts).toEqual([0, 7_200_000]);
});

test("an abort ends it early", async () => {
  const aborted = new AbortController();
  const { progress } = await emulated({
    contacts: people(50),
    signal: aborted.signal,
    onBegin: () => aborted.abort(),
  });
  expect(progress.waiting).toBeGreaterThan(40);
});
