import { describe, expect, test } from "vitest";
import { execute } from "../../examples/execute.ts";
import { nobodysUrl } from "../../nobody.ts";

const urlOf = (path: string): string => new URL(`../../../${path}`, import.meta.url).href;

/** What a program does before it loads the package, and before it places a call. */
interface Program {
  readonly first?: string;
  readonly next?: string;
  readonly entry?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** What is known of a call in a process of its own, whose connection is refused. */
const placedIn = async ({ first = "", next = "", entry = "fetch", env = {} }: Program) => {
  const params = {
    from_number: "+12025550199",
    to_number: "+12025550100",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
  };
  const options = { apiKey: "ak_live_0123456789", baseUrl: await nobodysUrl() };
  const program = `
    const options = ${JSON.stringify(options)};
    const symbol = Symbol.for("undici.globalDispatcher.1");
    ${first};
    const { calls } = await import("${urlOf(`src/${entry}.ts`)}");
    Response;
    ${next};
    const error = await calls.create(${JSON.stringify(params)}, options).catch((error) => error);
    console.log(error.name, error.placed);
    process.exit();`;
  const args = ["--no-warnings", "--input-type=module", "--eval", program];
  const { stdout, stderr } = await execute(process.execPath, args, env);
  expect(stdout, stderr).toMatch(/^NetworkException /);
  return stdout.trim().split(" ")[1];
};

const undiciUrl = (name: string): string => urlOf(`test/node_modules/${name}/index.js`);

const set = (name: string, made: string): string => `
  const undici = (await import("${undiciUrl(name)}")).default;
  undici.setGlobalDispatcher(${made})`;

/** What undici makes its pools by, word for word, which retries. */
const disguised = `(() => {
  class Pool1 { constructor(...args) { return new undici.RetryAgent(new undici.Pool(...args), { methods: ["POST"], maxRetries: 1, minTimeout: 1 }); } }
  const [Client1, Pool] = [Pool1, Pool1];
  function defaultFactory(origin, opts) {
    return opts && opts.connections === 1 ? new Client1(origin, opts) : new Pool(origin, opts)
  }
  return new undici.Agent({ factory: defaultFactory });
})()`;

test.each<[string, Program]>([
  ["before the first fetch", {}],
  ["through ky", { entry: "index" }],
  ["after another fetch", { next: "await fetch(options.baseUrl).catch(() => {})" }],
  ["while undici is loaded, too", { next: `await import("${undiciUrl("undici7")}")` }],
])("a refused connection is no by the platform's own dispatcher: %s", async (_, program) => {
  expect(await placedIn(program)).toBe("no");
});

describe.each(["undici6", "undici7"])("with the dispatcher of %s", (name) => {
  test.each([
    ["a plain agent", "new undici.Agent()"],
    ["the environment's proxies", "new undici.EnvHttpProxyAgent()"],
    ["a RetryAgent", "new undici.RetryAgent(new undici.Agent())"],
    ["a factory with the text of undici's own", disguised],
    ["a subclass", "new (class Agent extends undici.Agent {})()"],
    ["a composed agent", "new undici.Agent().compose(undici.interceptors.retry())"],
  ])("%s: a refused connection is maybe", async (_, made) => {
    expect(await placedIn({ next: set(name, made) })).toBe("maybe");
  });
});

test.each<[string, Program]>([
  ["was set before the package was loaded", { first: set("undici6", "new undici.Agent()") }],
  ["was there before the package was loaded", { first: "new Response()" }],
  [
    "is the environment's, of Node",
    { env: { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: "http://a.test" } },
  ],
  [
    "has a dispatch of its own",
    {
      next: `Object.assign(globalThis[symbol], { dispatch() { throw Error("connect ECONNREFUSED"); } })`,
    },
  ],
  [
    "has a prototype whose dispatch was replaced",
    {
      next: `
        const prototype = Object.getPrototypeOf(Object.getPrototypeOf(globalThis[symbol]));
        const { dispatch } = prototype;
        prototype.dispatch = function (...args) { return dispatch.apply(this, args); }`,
    },
  ],
  [
    "has another function that was replaced",
    {
      next: `
        const agent = globalThis[symbol];
        for (const key of Object.getOwnPropertySymbols(agent)) {
          const make = agent[key];
          if (key.description === "factory") agent[key] = (...args) => make(...args);
        }`,
    },
  ],
  [
    "throws when it is looked at",
    {
      next: `globalThis[symbol] = new Proxy(globalThis[symbol], { ownKeys() { throw Error("no"); } })`,
    },
  ],
])("a refused connection is maybe where the dispatcher %s", async (_, program) => {
  expect(await placedIn(program)).toBe("maybe");
});

test("a list of functions that the platform's dispatcher didn't have, such as Node 22's interceptors, makes it maybe", async () => {
  const next = "globalThis[symbol].interceptors = [(dispatch) => dispatch]";
  expect(await placedIn({ next })).toBe("maybe");
});
