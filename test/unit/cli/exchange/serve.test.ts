import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
import { openStore, type Store } from "../../../../src/exchange/store.ts";
import type { CallFacts } from "../../../../src/server/history.ts";

const settings = {
  listen: { host: "127.0.0.1", port: 0 },
  pages: { host: "127.0.0.1", port: 0 },
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

const params = {
  from_number: "+12025550199",
  to_number: "+12025550150",
  flow_url: "https://app.test/flow",
  status_callback_url: "",
  record: false,
};

/** Stores a call, as the service does. */
const storeCall = (store: Store, id: string, to_number = params.to_number): void => {
  const facts: CallFacts = {
    ...{ ...params, id, to_number, state: "answered" },
    initiated_at: Date.now(),
  };
  const call = {
    id,
    side: "outdial",
    params,
    limits: {},
    kept: null,
    url: "https://a.test",
  } as const;
  store.write(() => store.addCall(call, facts));
};

/** Serves with a service that only notes what it is asked. */
const stage = async (
  folder: string,
  {
    also = [],
    opens = true,
    isReady = true,
  }: {
    readonly also?: readonly string[];
    readonly opens?: boolean;
    readonly isReady?: boolean;
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
  let store: Store | undefined;
  const service: ExchangeService = {
    fetch: async () => new Response("served"),
    isReady,
    live: [],
    call: () => undefined,
    history: () => [],
    failedNotifications: [],
    resend: () => false,
    regenerateKey: () => {
      store?.keyKeeper.replace("ak_new");
      return "ak_new";
    },
    erase: () => 0,
    close: async ({ wait }) => {
      done.push(`close ${wait}`);
      store?.close();
    },
  };
  const ended = serveExchange(
    { folder, also: [...also] },
    { terminal, signal: stopping.signal, reached: (now) => done.push(now) },
    {
      openStore,
      openService: async (parts) => {
        store = parts.store;
        if (!opens) throw new TypeError("also: vonage is not spoken by an exchange");
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
  const again = await stage(folder);
  await again.parts;
  again.stop();
  await again.ended;
  expect(again.printed.join("")).not.toContain("ak_new");
});

it("it has its page, metrics and health at an address of their own, and logs what happens", async () => {
  const { printed, ended, stop, parts } = await stage(newFolder());
  const { baseUrl, onEvent, recorder } = await parts;
  expect(recorder).toBeDefined();
  await expect.poll(() => printed.join("")).toContain("page         http://127.0.0.1:");
  const [, link = ""] = /^page +(\S+)/m.exec(printed.join("")) ?? [];
  const { origin } = new URL(link);
  expect(origin).not.toBe(new URL(baseUrl).origin);
  expect(await (await fetch(link)).text()).toContain("Signed in.");
  expect(await (await fetch(`${origin}/healthz`)).text()).toBe("ok\n");
  expect(await (await fetch(`${baseUrl}/metrics`)).text()).toBe("served");
  onEvent({ type: "refused", side: "outdial", status: 403, rule: "short_number" });
  expect(await (await fetch(`${origin}/metrics`)).text()).toContain(
    'outdial_refusals_total{side="outdial",rule="short_number"} 1\n',
  );
  const lines = printed
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("{"));
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(["sign_in", "refused"]);
  stop();
  await ended;
});

it("it stops when it is asked to: the service is closed first, and waits for the live calls", async () => {
  const { printed, done, ended, stop, parts } = await stage(newFolder());
  const { baseUrl } = await parts;
  stop();
  await ended;
  expect(done).toEqual(["live", "close 600000"]);
  expect(printed.join("")).toContain("no new calls are taken; 0 live calls are waited for");
  await expect(fetch(baseUrl)).rejects.toThrow(TypeError);
});

it("calls count against the limits from the store on, and what was live before too", async () => {
  const folder = newFolder();
  const before = await openStore(join(folder, "outdial-exchange.db"));
  storeCall(before, "before", "+12025550151");
  before.close();
  const { ended, stop, parts, printed } = await stage(folder);
  const { admit, onEvent, store } = await parts;
  const asked = { from_number: "+12025550199", to_number: "+12025550150", leg: "call" } as const;
  const ruleAt = (at: number) => admit({ ...asked, at })?.reason;
  await expect.poll(() => printed.join("")).toContain("base URL");
  const now = Date.now();
  expect(ruleAt(now)).toBe("calls_at_once");
  const facts = { state: "completed", reason: "normal", talkTime: 0 } as const;
  onEvent({ type: "ended", call_id: "before", ...facts });
  expect(ruleAt(now)).toBeUndefined();
  storeCall(store, "one");
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

it("without Asterisk it serves, and says what to do", async () => {
  const { ended, stop, parts, printed } = await stage(newFolder(), { isReady: false });
  await parts;
  stop();
  await ended;
  expect(printed.join("")).toContain("Asterisk is not reached, and calls are refused until it is");
});

it("one process serves a folder; a service that doesn't open leaves nothing behind", async () => {
  const folder = newFolder();
  const first = await stage(folder, { opens: false });
  await expect(first.ended).rejects.toThrow("also: vonage");
  const second = await stage(folder);
  await second.parts;
  const third = await stage(folder);
  await expect(third.ended).rejects.toThrow("store: another process serves it");
  second.stop();
  await second.ended;
});
