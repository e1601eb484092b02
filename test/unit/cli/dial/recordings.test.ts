import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LedgerException } from "../../../../src/campaigns/index.ts";
import {
  deleteFiles,
  prepareFolder,
  RecordingFolder,
  recordingCommand,
} from "../../../../src/cli/dial/recordings.ts";
import { NetworkException, ServiceException, TimeoutException } from "../../../../src/errors.ts";
import { record, say } from "../../../../src/flows/index.ts";

const folders: string[] = [];
afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true });
});

const campaign = "cb0c965dc06fd710";
const recording_url = "https://storage.test/r?signature=MARKED";

const wav = (text = "RIFF") =>
  new Response(text, { headers: { "Content-Type": "audio/x-wav; a=b" } });

/** A folder of recordings, and what it fetches and reports. */
const stage = (answer: (url: string) => Response | Promise<Response> = () => wav()) => {
  const folder = mkdtempSync(join(tmpdir(), "recordings-"));
  folders.push(folder);
  const fetched: string[] = [];
  const signals: AbortSignal[] = [];
  const reported: string[] = [];
  const people = { isErased: false, problems: [] as Error[] };
  const recordings = new RecordingFolder({
    folder,
    campaign: () => ({
      id: campaign,
      contact: () => {
        const problem = people.problems.shift();
        if (problem) throw problem;
        return people.isErased
          ? undefined
          : { to_number: "+12025550100", id: undefined, variables: {}, attempt: 1 };
      },
    }),
    fetch: async (url, { signal }) => {
      fetched.push(url);
      signals.push(signal);
      return answer(url);
    },
    commandFor: ({ call_id }, file) => `fetch ${call_id} ${file.startsWith(folder)}`,
    report: (line) => reported.push(line),
  });
  const made = (recording_id: string, as?: string, contact = 7) => ({
    ...{ call_id: "cs_1", recording_id, recording_url, as },
    context: { campaign, contact, attempt: 2, to_number: "+12025550100" },
  });
  const done = () => recordings.complete(AbortSignal.abort());
  return { folder, fetched, signals, reported, recordings, people, made, done };
};

const never = "0123456789abcdef";

test("a recording is fetched into a file of its own, which only its user may read, and whose name has no number", async () => {
  const { folder, fetched, recordings, made, done } = stage();
  recordings.keep(made("RE1", "why"));
  await done();
  const [name = "", ...others] = readdirSync(folder);
  expect(name).toMatch(/^7-2-why-[0-9a-f]{16}\.wav$/);
  expect(others).toEqual([]);
  expect(lstatSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, name), "utf8")).toBe("RIFF");
  expect([fetched, recordings.saved, recordings.failed]).toEqual([[recording_url], 1, 0]);
});

test("one that comes again, also at the same time, is fetched once, and no file is replaced", async () => {
  const { folder, fetched, recordings, made, done } = stage();
  recordings.keep(made("RE1"));
  recordings.keep(made("RE1"));
  await done();
  const [name = ""] = readdirSync(folder);
  writeFileSync(join(folder, name), "mine");
  recordings.keep(made("RE1"));
  await done();
  expect(fetched).toHaveLength(1);
  expect(readFileSync(join(folder, name), "utf8")).toBe("mine");
});

test.each([
  ["../../etc/passwd", "why"],
  ["RE1", "../../evil"],
  ["RE1/../../x", "/etc/passwd"],
  ["\0", "a".repeat(40)],
])("the id %j and the name %j lead out of no folder", async (id, as) => {
  const { folder, recordings, made, done } = stage();
  recordings.keep(made(id, as));
  await done();
  expect(readdirSync(folder)).toEqual([
    expect.stringMatching(/^7-2-(why|recording)-[0-9a-f]{16}\.wav$/),
  ]);
});

test("one that can't be fetched, or not whole, is reported without its URL, counted, and leaves no file", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode("RI"));
      controller.error(new Error("lost"));
    },
  });
  const { folder, reported, recordings, made, done } = stage(() => {
    if (recordings.failed + reported.length === 0)
      throw new ServiceException("HTTP 404", { code: 404 });
    return new Response(broken);
  });
  recordings.keep(made("RE1"));
  await done();
  recordings.keep(made("RE2"));
  await done();
  expect(reported).toEqual([
    "a recording could not be kept (HTTP 404): it stays at the service",
    "a recording could not be kept (lost): it stays at the service",
  ]);
  expect(readdirSync(folder)).toEqual([]);
  expect(recordings.summary).toBe(`recordings in ${folder}: 0; not kept, only at the service: 2`);
});

describe("a fetch that fails", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  const passing: readonly (readonly [string, () => Error])[] = [
    ["HTTP 503", () => new ServiceException("HTTP 503", { code: 503 })],
    ["HTTP 429", () => new ServiceException("HTTP 429", { code: 429 })],
    ["HTTP 404, as it is not ready", () => new ServiceException("HTTP 404", { code: 404 })],
    ["a lost connection", () => new NetworkException("lost", {})],
    ["a timeout", () => new TimeoutException("late", {})],
  ];

  /** Begins to keep a recording whose first fetches fail. */
  const failing = (error: () => Error, failures: number) => {
    const staged = stage(() => {
      if (staged.fetched.length <= failures) throw error();
      return wav();
    });
    staged.recordings.keep(staged.made("RE1", "why"));
    return staged;
  };

  test.each(passing)("by %s is tried again after pauses that grow", async (_, error) => {
    const { fetched, recordings, reported, folder } = failing(error, 2);
    const done = recordings.complete(new AbortController().signal);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    await vi.advanceTimersByTimeAsync(999);
    expect(fetched).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await vi.waitFor(() => expect([fetched.length, vi.getTimerCount()]).toEqual([2, 1]));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(fetched).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    await done;
    expect([fetched.length, recordings.saved, recordings.failed]).toEqual([3, 1, 0]);
    expect([reported, recordings.commands, readdirSync(folder).length]).toEqual([[], [], 1]);
  });

  test("ends after five tries, and is told with the command that fetches it", async () => {
    const error = () => new ServiceException("HTTP 503", { code: 503 });
    const { fetched, recordings, reported } = failing(error, 9);
    const done = recordings.complete(new AbortController().signal);
    for (const pause of [1_000, 5_000, 20_000, 60_000]) {
      await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
      await vi.advanceTimersByTimeAsync(pause);
    }
    await done;
    expect([fetched.length, recordings.saved, recordings.failed]).toEqual([5, 0, 1]);
    expect(reported).toEqual(["a recording could not be kept (HTTP 503): it stays at the service"]);
    expect(recordings.commands).toEqual(["fetch cs_1 true"]);
  });

  test("is not tried again once the command is interrupted, and leaves no timer", async () => {
    const error = () => new ServiceException("HTTP 503", { code: 503 });
    const { fetched, recordings } = failing(error, 9);
    const interrupted = new AbortController();
    const done = recordings.complete(interrupted.signal);
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    interrupted.abort();
    await done;
    expect([fetched.length, recordings.failed, vi.getTimerCount()]).toEqual([1, 1, 0]);
  });

  test.each([
    ["HTTP 403", new ServiceException("HTTP 403", { code: 403 })],
    ["a full disk", Object.assign(new Error("no space"), { code: "ENOSPC" })],
  ])("by %s is not tried again", async (_, error) => {
    const { fetched, recordings } = failing(() => error, 9);
    await recordings.complete(new AbortController().signal);
    expect([fetched.length, recordings.failed, recordings.commands.length]).toEqual([1, 1, 1]);
  });

  test("holds no other up while it pauses", async () => {
    const error = () => new ServiceException("HTTP 503", { code: 503 });
    const { recordings, made } = stage((url) => {
      if (url === recording_url) throw error();
      return wav();
    });
    for (let at = 0; at < 9; at++) recordings.keep(made(`RE${at}`));
    recordings.keep({ ...made("RE9"), recording_url: `${recording_url}2` });
    await vi.waitFor(() => expect(recordings.saved).toBe(1));
    await recordings.complete(AbortSignal.abort());
  });
});

test.each([
  [
    "with its key, and without what signs it",
    { recording_url: "https://voice.test/recordings/cs_1-1.wav?signature=MARKED" },
    { "base-url": "https://voice.test" },
    "outdial recording https://voice.test/recordings/cs_1-1.wav --output 'the folder/1.wav' --base-url https://voice.test",
  ],
  [
    "by its id where URLs of the storage end",
    { recording_url, call_id: "v3:abc", recording_id: "RE-1" },
    { service: "telnyx", account: "1" },
    "outdial recording v3:abc --recording-id RE-1 --output 'the folder/1.wav' --service telnyx --account 1",
    "telnyx",
  ],
  [
    "by the service of the file that has it",
    { recording_url, call_id: "v3:abc", recording_id: "RE-1" },
    { "services-file": "services.json", service: "backup" },
    "outdial recording v3:abc --recording-id RE-1 --output 'the folder/1.wav' --services-file services.json --service backup",
    "telnyx",
  ],
  [
    "by its id where the path has a number",
    {
      recording_url: "https://voice.test/%2B12025550100.wav",
      call_id: "cs_1",
      recording_id: "r_1",
    },
    {},
    "outdial recording cs_1 --output 'the folder/1.wav'",
  ],
  [
    "whatever the service has sent",
    { recording_url: "no URL", call_id: "'$(x)", recording_id: "`" },
    { service: "twilio" },
    "outdial recording ''\\''$(x)' --recording-id '`' --output 'the folder/1.wav' --service twilio",
    "twilio",
  ],
])(
  "the command that fetches a recording names it %s",
  (_, given, flags, command, carrier?: string) => {
    const recording = { call_id: "cs_1", recording_id: "RE1", context: {}, ...given };
    expect(recordingCommand(recording, "the folder/1.wav", flags, carrier)).toBe(command);
  },
);

test("of who was erased, also meanwhile, no file is left", async () => {
  const { folder, fetched, recordings, people, made, done } = stage(() => {
    people.isErased = true;
    return wav();
  });
  recordings.keep(made("RE1"));
  await done();
  recordings.keep(made("RE2"));
  await done();
  expect([readdirSync(folder), fetched.length, recordings.saved]).toEqual([[], 1, 0]);
});

test("while another program holds the ledger, it is asked again whose a recording is", async () => {
  const busy = () => new LedgerException("busy");
  const { folder, reported, recordings, people, made, done } = stage(() => {
    people.problems.push(busy(), busy());
    return wav();
  });
  people.problems.push(busy());
  recordings.keep(made("RE1"));
  await done();
  expect([readdirSync(folder).length, reported, recordings.saved]).toEqual([1, [], 1]);
});

test("where the ledger can't say whose a recording is, no file is left", async () => {
  const { folder, reported, recordings, people, made, done } = stage(() => {
    people.problems.push(new LedgerException("closed"));
    return wav();
  });
  recordings.keep(made("RE1"));
  await done();
  expect([readdirSync(folder), reported.length, recordings.failed]).toEqual([[], 1, 1]);
});

test("erasing deletes the files of a contact's recordings alone, and what a killed process left of them", async () => {
  const { folder, recordings, made, done } = stage((url) => new Response(url));
  recordings.keep(made("RE1", "why"));
  recordings.keep(made("RE2", "why", 8));
  await done();
  const [first = "", second = ""] = readdirSync(folder).sort();
  expect(first).toMatch(/\.audio$/);
  const part = `.${first.replace(".audio", ".part")}`;
  writeFileSync(join(folder, part), "RI");
  const kept = { contact: 7, attempt: 2, recording_id: "RE1", as: "why" };
  expect(await deleteFiles([folder, `${folder}/gone`], campaign, [kept])).toBe(1);
  expect(readdirSync(folder)).toEqual([second]);
  expect(await deleteFiles([folder], never, [{ ...kept, contact: 8 }])).toBe(0);
});

test("recordings that calls have made are waited for", async () => {
  const { reported, recordings, made } = stage();
  const script = recordings.watch({
    onAnswer: () => record("Why?", { as: "why", next: "thanks" }),
    steps: { thanks: () => say("Thank you.") },
  });
  const { context } = made("RE1");
  const call = {
    ...{ call_id: "cs_1", account_id: "acc_1", direction: "outbound" },
    ...{ from_number: "+12025550199", to_number: "+12025550100" },
  };
  const given = {
    ...{ call, context, variables: {}, digits: "", attempt: 1, answers: {} },
    contact: { to_number: "+12025550100", id: undefined, variables: {}, attempt: 2 },
    campaign: { block: async () => 1, callBack: async () => true, cancel: async () => {} },
  };
  await script.onAnswer(given);
  await script.steps?.thanks?.(given);
  const complete = recordings.complete(new AbortController().signal);
  expect(reported).toEqual(["recordings that are waited for, a minute at most: 1"]);
  recordings.keep(made("RE1", "why"));
  await complete;
  expect(recordings.saved).toBe(1);
});

test("one that comes twice is counted once, and not as failed once it is kept", async () => {
  let works = false;
  const { recordings, made, done } = stage(() => {
    if (!works) throw new ServiceException("HTTP 403", { code: 403 });
    return wav();
  });
  for (let times = 0; times < 2; times++) {
    recordings.keep(made("RE1", "why"));
    await done();
  }
  expect([recordings.failed, recordings.commands.length]).toEqual([1, 1]);
  works = true;
  recordings.keep(made("RE1", "why"));
  await done();
  expect([recordings.saved, recordings.failed, recordings.commands]).toEqual([1, 0, []]);
});

test("each fetch has an hour, so a body that never ends is given up", async () => {
  const hour = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(hour.signal);
  const { signals, recordings, made, done } = stage();
  recordings.keep(made("RE1", "why"));
  await done();
  expect([timeout.mock.calls, signals]).toEqual([[[3_600_000]], [hour.signal]]);
  timeout.mockRestore();
});

test("those that were waited for and did not come are counted", async () => {
  const { folder, recordings, made, done } = stage();
  const script = recordings.watch({
    onAnswer: () => record("Why?", { as: "why", next: "thanks" }),
  });
  const { context } = made("RE1");
  const call = {
    ...{ call_id: "cs_1", account_id: "acc_1", direction: "outbound" },
    ...{ from_number: "+12025550199", to_number: "+12025550100" },
  };
  await script.onAnswer({
    ...{ call, context, variables: {}, digits: "", attempt: 1, answers: {} },
    contact: { to_number: "+12025550100", id: undefined, variables: {}, attempt: 2 },
    campaign: { block: async () => 1, callBack: async () => true, cancel: async () => {} },
  });
  await done();
  expect(recordings.summary).toBe(
    `recordings in ${folder}: 0; did not come, and may be at the service: 1`,
  );
  recordings.keep(made("RE1", "why"));
  await done();
  expect([recordings.missing, recordings.saved]).toEqual([0, 1]);
});

test("the folder is made, for its user alone, and one that can't be written is refused", async () => {
  const { folder } = stage();
  const made = await prepareFolder(join(folder, "a", "b"));
  expect(lstatSync(made).mode & 0o777).toBe(0o700);
  writeFileSync(join(folder, "file"), "");
  await expect(prepareFolder(join(folder, "file"))).rejects.toThrow(
    /--recordings cannot be written \(\w+\)/,
  );
});
