import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { serveExchange } from "../../../../src/cli/exchange/serve.ts";
import { Terminal } from "../../../../src/cli/terminal.ts";
import type { ExchangeService, ServiceParts } from "../../../../src/exchange/service.ts";
import {
  newSecrets,
  readSecrets,
  settingsFile,
  writeSecrets,
} from "../../../../src/exchange/settings.ts";
import type { CallRecord } from "../../../../src/server/history.ts";

const settings = {
  listen: { host: "127.0.0.1", port: 0 },
  asterisk: {
    url: "http://127.0.0.1:8088",
    user: "outdial",
    app: "outdial",
    command: ["/usr/sbin/asterisk"],
    channelLog: "asterisk/log.csv",
  },
  trunk: { host: "sip.example.net", transport: "udp", registers: false },
  numbers: ["+12025550199"],
  allow: ["+1202"],
  limits: { callsPerSecond: 100, callsAtOnce: 1, minutesPerDay: 1, minutesPerDayToNumber: 1 },
};

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-serve-"));
  writeFileSync(join(folder, settingsFile), JSON.stringify(settings));
  writeSecrets(folder, newSecrets());
  return folder;
};

const callOf = (id: string, times: Partial<CallRecord> = {}): CallRecord => ({
  id,
  state: "answered",
  from_number: "+12025550199",
  to_number: "+12025550150",
  flow_url: "https://app.test/flow",
  status_callback_url: "",
  record: false,
  initiated_at: Date.now(),
  history: [],
  ...times,
});

/** Serves with a service that only notes what it is asked. */
const stage = async (
  folder: string,
  {
    live = [],
    also = [],
    hasKey = false,
    opens = true,
  }: {
    readonly live?: readonly CallRecord[];
    readonly also?: readonly string[];
    readonly hasKey?: boolean;
    readonly opens?: boolean;
  } = {},
) => {
  const printed: string[] = [];
  const done: string[] = [];
  const output = {
    write: (text: string, written: () => void) => {
      printed.push(text);
      written();
    },
  };
  const terminal = new Terminal({ stdin: undefined, stdout: output, stderr: output, env: {} });
  const stopping = new AbortController();
  const given = Promise.withResolvers<ServiceParts>();
  const service: ExchangeService = {
    fetch: async () => new Response("served"),
    isReady: true,
    live,
    history: () => [],
    failedNotifications: [],
    resend: () => false,
    regenerateKey: () => "ak_new",
    erase: () => 0,
    close: async ({ wait }) => {
      done.push(`close ${wait}`);
    },
  };
  const ended = serveExchange(
    { folder, also: [...also] },
    { terminal, signal: stopping.signal, reached: (now) => done.push(now) },
    {
      openStore: () => ({
        database: new DatabaseSync(":memory:"),
        hasKey,
        close: () => done.push("store closed"),
      }),
      openService: async (parts) => {
        if (!opens) throw new TypeError("url: Asterisk's REST interface gave no answer");
        given.resolve(parts);
        return service;
      },
    },
  );
  return { printed, done, ended, stop: () => stopping.abort(), parts: given.promise };
};

it("outdial exchange serves with what its settings say, and shows the key once", async () => {
  const folder = newFolder();
  const { printed, ended, stop, parts } = await stage(folder);
  const { ari, endpoint, numbers, baseUrl, takesPrivate, channelLog } = await parts;
  expect(ari).toMatchObject({
    url: "http://127.0.0.1:8088",
    password: readSecrets(folder).ariPassword,
  });
  expect(numbers).toEqual(["+12025550199"]);
  expect(endpoint("+12025550150")).toBe("PJSIP/+12025550150@trunk");
  expect(takesPrivate).toBe(false);
  expect(channelLog).toBe(join(folder, "asterisk/log.csv"));
  await expect.poll(() => printed.join("")).toContain("ak_new   (shown this once)");
  expect(printed.join("")).toContain(`base URL     ${baseUrl}\n`);
  expect(await (await fetch(baseUrl)).text()).toBe("served");
  stop();
  await ended;
  const again = await stage(folder, { hasKey: true });
  await again.parts;
  again.stop();
  await again.ended;
  expect(again.printed.join("")).not.toContain("ak_new");
});

it("it stops when it is asked to: the service is closed first, and waits for the live calls", async () => {
  const { printed, done, ended, stop, parts } = await stage(newFolder(), { live: [callOf("one")] });
  const { baseUrl } = await parts;
  stop();
  await ended;
  expect(done).toEqual(["live", "close 600000", "store closed"]);
  expect(printed.join("")).toContain("no new calls are taken; 1 live call is waited for");
  await expect(fetch(baseUrl)).rejects.toThrow(TypeError);
});

it("calls count against the limits from the store on, and what was live before too", async () => {
  const before = callOf("before", { to_number: "+12025550151" });
  const live: CallRecord[] = [before];
  const { ended, stop, parts, printed } = await stage(newFolder(), { live });
  const { admit, onEvent } = await parts;
  const asked = { from_number: "+12025550199", to_number: "+12025550150", leg: "call" } as const;
  const ruleAt = (at: number) => admit({ ...asked, at })?.reason;
  await expect.poll(() => printed.join("")).toContain("base URL");
  const now = Date.now();
  expect(ruleAt(now)).toBe("calls_at_once");
  const facts = { state: "completed", reason: "normal", talkTime: 0 } as const;
  onEvent({ type: "ended", call_id: "before", ...facts });
  expect(ruleAt(now)).toBeUndefined();
  live.push(callOf("one"));
  onEvent({ type: "stored", call_id: "one", side: "outdial" });
  expect(ruleAt(now)).toBe("calls_at_once");
  onEvent({ type: "answered", call_id: "one" });
  onEvent({ type: "ended", call_id: "one", ...facts });
  expect(ruleAt(now)).toBeUndefined();
  stop();
  await ended;
});

it("a carrier's account is made once, kept, and its token shown nowhere", async () => {
  const folder = newFolder();
  const first = await stage(folder, { also: ["twilio"] });
  const { also } = await first.parts;
  first.stop();
  await first.ended;
  const [account] = also;
  expect(account).toMatchObject({
    name: "twilio",
    account: expect.stringMatching(/^AC[\da-f]{32}$/),
    apiKey: expect.stringMatching(/^[\da-f]{32}$/),
  });
  expect(first.printed.join("")).toContain(account?.account);
  expect(first.printed.join("")).not.toContain(account?.apiKey);
  const second = await stage(folder, { also: ["twilio"] });
  expect((await second.parts).also).toEqual(also);
  second.stop();
  await second.ended;
});

it("without Asterisk it says what to do, and leaves nothing open", async () => {
  const { ended, done } = await stage(newFolder(), { opens: false });
  await expect(ended).rejects.toThrow("Asterisk is not reached: run outdial exchange check");
  expect(done).toEqual(["store closed"]);
});
