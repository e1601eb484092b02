import { afterEach, expect, test, vi } from "vitest";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { hangup } from "../../../src/flows/actions.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { machineUrl } from "../../../src/flows/machine-url.ts";
import { gather } from "../../../src/flows/say.ts";

const secret = "a secret of sixteen characters";
const flow = "https://app.test/flow";
const day = 86_400;

afterEach(() => void vi.useRealTimers());

/** A menu that names itself, and who asks it. */
const menu = () => {
  const onError = vi.fn();
  const handler = flowHandler({
    secret,
    onAnswer: () => gather("Again?", { digits: 1, next: "menu" }),
    steps: { menu: () => gather("Again?", { digits: 1, next: "menu" }) },
    onError,
  });
  const ask = async (url: string): Promise<string> => {
    const body = JSON.stringify({
      ...{ call_id: "cs_1", account_id: "acc_1", direction: "outbound", digits: "1" },
      ...{ from_number: "+12025550199", to_number: "+12025550100", actions: ["gather"] },
    });
    return (await (await handler(new Request(url, { method: "POST", body }))).json()).flow_url;
  };
  return { ask, onError };
};

const expiryOf = (url: string): number => Number(/outdial=(\d+)\./.exec(url)?.[1]);

test("a step's URL ends with the first signature, however often a menu names itself", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { ask, onError } = menu();
  const first = await signUrl(flow, { secret, expiresIn: 300 });
  let url = first;
  for (let step = 0; step < 5; step++) {
    url = await ask(url);
    expect(expiryOf(url)).toBe(expiryOf(first));
    vi.setSystemTime(Date.now() + 59_000);
  }
  vi.setSystemTime(Date.now() + 6_000);
  await expect(ask(url)).rejects.toThrow();
  expect(onError.mock.calls[0]?.[0]).toMatchObject({ reason: "expired_token" });
});

test("a step's URL ends a day after the answer, where the first signature is valid for longer", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { ask } = menu();
  const url = await ask(await signUrl(flow, { secret, expiresIn: 30 * day }));
  const end = Math.ceil(Date.now() / 1000) + day;
  expect(expiryOf(url)).toBe(end);
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(expiryOf(await ask(url))).toBe(end);
});

test("a URL that looks as if it were signed many times is read in linear time", {
  timeout: 60_000,
}, async () => {
  // Where this is tried in every way there is, it takes minutes.
  const text = `${"?outdial=".repeat(30)}&x=1`;
  const url = await machineUrl(flow + text, { secret, answered_by: "fax" });
  expect(new URL(url).searchParams.get("outdial-answered")).toBe("fax");
  const handler = flowHandler({ secret, onAnswer: () => hangup() });
  expect((await handler(new Request(url, { method: "HEAD" }))).status).toBe(204);
});
