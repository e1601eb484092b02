import { afterEach, describe, expect, test, vi } from "vitest";
import { calls, type ServiceException } from "../../../src/fetch.ts";
import { sendsOnce } from "../../../src/http/post.ts";
import { execute } from "../../examples/execute.ts";
import { nobodysUrl } from "../../nobody.ts";

const symbols = [1, 2].map((version) => Symbol.for(`undici.globalDispatcher.${version}`));
const before = symbols.map((symbol) => Reflect.get(globalThis, symbol));

afterEach(() => {
  for (const [at, symbol] of symbols.entries()) Reflect.set(globalThis, symbol, before[at]);
});

type Undici = typeof import("undici7");
type Dispatch = import("undici6").Dispatcher["dispatch"];

const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

const placedAt = (baseUrl: string): Promise<unknown> =>
  calls
    .create(params, { apiKey: "ak_live_0123456789", baseUrl })
    .catch(({ placed }: ServiceException) => placed);

test("a refused connection is no by the platform's own dispatcher, before and after the first fetch", async () => {
  const url = await nobodysUrl();
  expect(await placedAt(url)).toBe("no");
  await fetch(url).catch(() => {});
  expect(await placedAt(url)).toBe("no");
});

test("and with NODE_USE_ENV_PROXY", async () => {
  const program = `
      import { sendsOnce } from "${new URL("../../../src/http/post.ts", import.meta.url)}";
      const isSingle = sendsOnce();
      await fetch("${await nobodysUrl()}").catch(() => {});
      const after = sendsOnce();
      console.log(isSingle(), after());`;
  const { stdout, stderr } = await execute(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1" },
  );
  expect(stdout, stderr).toBe("true true\n");
});

describe.each(["undici6", "undici7"])("with the dispatcher of %s", (name) => {
  /** Sets the global dispatcher as an application does. */
  const placedBy = async (make: (undici: Undici) => unknown) => {
    const undici = await import(name);
    undici.setGlobalDispatcher(make(undici.default));
    return placedAt(await nobodysUrl());
  };

  test.each<[string, (undici: Undici) => unknown]>([
    ["a plain agent", ({ Agent }) => new Agent()],
    ["an agent with options", ({ Agent }) => new Agent({ connections: 1, pipelining: 0 })],
    ["the environment's proxies", ({ EnvHttpProxyAgent }) => new EnvHttpProxyAgent()],
  ])("%s: a refused connection is no", async (_, make) => {
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    expect(await placedBy(make)).toBe("no");
  });

  test.each<[string, (undici: Undici) => unknown]>([
    ["a RetryAgent", ({ Agent, RetryAgent }) => new RetryAgent(new Agent())],
    [
      "an agent whose factory retries",
      ({ Agent, RetryAgent, Pool }) =>
        new Agent({
          factory: (origin, options) =>
            new RetryAgent(new Pool(origin, options), { methods: ["POST"], maxTimeout: 1 }),
        }),
    ],
    [
      "an agent whose factory has the name of the default",
      ({ Agent, RetryAgent, Pool }) => {
        const defaultFactory = (origin: string | URL, options: object) =>
          new RetryAgent(new Pool(origin, options));
        return new Agent({ factory: defaultFactory });
      },
    ],
    [
      "the environment's proxies with a factory",
      ({ EnvHttpProxyAgent, Pool }) =>
        new EnvHttpProxyAgent({ factory: (origin, options) => new Pool(origin, options) }),
    ],
    [
      "a subclass named Agent",
      (undici) =>
        new (class Agent extends undici.Agent {
          override dispatch(...args: Parameters<typeof undici.Agent.prototype.dispatch>) {
            return super.dispatch(...args);
          }
        })(),
    ],
    [
      "a subclass named Agent without a change",
      (undici) => new (class Agent extends undici.Agent {})(),
    ],
    ["a composed agent", ({ Agent, interceptors }) => new Agent().compose(interceptors.retry())],
    [
      "an agent with a dispatch of its own",
      ({ Agent }) => {
        const agent = new Agent();
        const dispatch = agent.dispatch.bind(agent);
        return Object.assign(agent, { dispatch });
      },
    ],
  ])("%s: a refused connection is maybe", async (_, make) => {
    vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    expect(await placedBy(make)).toBe("maybe");
  });
});

test("an agent of undici 6 with interceptors may send again", async () => {
  const { Agent, setGlobalDispatcher } = await import("undici6");
  const interceptors = { Agent: [(dispatch: Dispatch) => dispatch], Client: [] };
  setGlobalDispatcher(new Agent({ interceptors }));
  expect(await placedAt(await nobodysUrl())).toBe("maybe");
});

test("what is no dispatcher of undici, or has one that throws, may send again", async () => {
  for (const dispatcher of [
    { dispatch: () => {} },
    {
      get dispatch() {
        throw new Error("no");
      },
    },
  ]) {
    Reflect.set(globalThis, symbols[0] ?? "", dispatcher);
    expect(sendsOnce()()).toBe(false);
  }
});
