import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { cases } from "../../conformance/emulator/index.ts";
import { httpSchemas } from "../schemas.ts";
import { errorsOf, valuesNear } from "../values.ts";
import { serve, startPrism, type Violation, violationsOf } from "./prism.ts";

interface Exchange {
  readonly body: string;
  readonly status: number;
  readonly violations: readonly Violation[];
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Every request that went through the proxy, and the emulators behind it. */
const { exchanges, emulators, proxy } = vi.hoisted(() => ({
  exchanges: [] as Exchange[],
  emulators: new Map<string, Fetch>(),
  proxy: { url: "" },
}));

/**
 * The body of a request that Prism passes on as it is. It responds itself to what is not JSON, and sends an empty body
 * instead of `null`, `""`, `0` and `false`.
 */
const jsonIn = (init: RequestInit | undefined): string | undefined => {
  if (init?.method !== "POST" || typeof init.body !== "string") return;
  try {
    if (!(JSON.parse(init.body) instanceof Object)) return;
  } catch {
    return;
  }
  // These numbers spoil the response: there is none to validate.
  return /"\+1202555011[2-5]"/.test(init.body) ? undefined : init.body;
};

const isCall = (url: URL): boolean => /^\/api\/v1\/(voice\/)?calls\/initiate$/.test(url.pathname);

vi.mock("outdial/emulator", async (original) => {
  const real = await original<typeof import("outdial/emulator")>();
  return {
    ...real,
    createEmulator: (options: Parameters<typeof real.createEmulator>[0]) => {
      const emulator = real.createEmulator(options);
      const through: Fetch = async (input, init) => {
        const url = input instanceof Request ? undefined : new URL(input);
        const body = jsonIn(init);
        if (!url || body === undefined || !isCall(url) || init?.signal?.aborted) {
          return emulator.fetch(input, init);
        }
        const name = crypto.randomUUID();
        emulators.set(name, (_, passed) => emulator.fetch(url, passed));
        const headers = new Headers(init?.headers);
        headers.set("x-emulator", name);
        const { signal = null } = init ?? {};
        const response = await fetch(proxy.url + url.pathname, {
          method: "POST",
          headers,
          body,
          signal,
        });
        emulators.delete(name);
        exchanges.push({ body, status: response.status, violations: violationsOf(response) });
        // Without the address of the proxy, which would be that of a redirect.
        const { status, headers: received } = response;
        return new Response(await response.arrayBuffer(), { status, headers: received });
      };
      return Object.create(emulator, { fetch: { value: through } });
    },
  };
});

const upstream = await serve(async (request) => {
  const { method, headers, url } = request;
  const emulator = emulators.get(headers.get("x-emulator") ?? "");
  if (!emulator) return new Response("no such emulator", { status: 500 });
  const body = await request.text();
  const kept = new Headers(headers);
  for (const name of ["x-emulator", "content-length", "host", "connection"]) kept.delete(name);
  return emulator(url, { method, headers: kept, body });
});
const prism = await startPrism("proxy", upstream.url);
proxy.url = prism.url;
afterAll(async () => {
  await prism.stop();
  await upstream.stop();
});

const of = (side: string, { violations }: Exchange) =>
  violations.filter(({ location }) => location[0] === side);

/** Cases that no request of which can pass through a network: they hold the timers of the process, or the time of a call. */
const local: ReadonlySet<string> = new Set([
  "emulator: on the real clock a call takes its time, as fast as speed says",
  "emulator: 200 calls at once end with every history complete and in order, keep of them known",
  "emulator: frames of a stream are as far apart as they are long",
]);
const proxied = cases.filter(({ name }) => !local.has(name));

/** What Prism must say of an exchange: nothing against the response, and something against a request with wrong fields. */
const expectDocumented = (exchange: Exchange): void => {
  const { status, body } = exchange;
  const exchanged = `${status} to ${body}`;
  expect(of("response", exchange), exchanged).toEqual([]);
  expect(status, exchanged).not.toBe(500);
  if (of("request", exchange).length > 0) expect([403, 415, 422], exchanged).toContain(status);
};

describe("behind Prism as a validating proxy", () => {
  test.each(proxied.map((one) => [one.name, one] as const))("%s", async (_, one) => {
    const before = exchanges.length;
    await one.run({ runtime: "node24", peer: "", inspect: String });
    for (const exchange of exchanges.slice(before)) expectDocumented(exchange);
  });

  test("the cases went through the proxy, and were accepted and refused there", () => {
    const statuses = new Set(exchanges.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([202, 403, 415, 422, 429, 503]);
    expect(exchanges.length).toBeGreaterThan(100);
  });
});

test("bodies near the schema: the emulator accepts what the file allows, refuses the rest, and never fails", async () => {
  const { createEmulator } = await import("outdial/emulator");
  const emulator = createEmulator({ clock: "instant", fetch: () => new Response() });
  const schemas = httpSchemas();
  const counts = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(valuesNear(schemas.CallParams ?? {}, schemas), async (value) => {
      // The emulator's own numbers: outages and spoiled responses.
      const body = JSON.stringify(value).replace(/\+120255501\d\d/g, "+12025550100");
      const headers = { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" };
      const before = exchanges.length;
      const url = "http://127.0.0.1:4010/api/v1/calls/initiate";
      const response = await emulator.fetch(url, { method: "POST", headers, body });
      const [exchange] = exchanges.slice(before);
      expect([202, 422], body).toContain(response.status);
      if (!exchange) {
        // No object: Prism would have sent something else.
        expect(response.status, body).toBe(422);
        return;
      }
      expectDocumented(exchange);
      const isValid = of("request", exchange).length === 0;
      expect(isValid, body).toBe(
        errorsOf("openapi.json#/components/schemas/CallParams", JSON.parse(body)) === "",
      );
      if (response.status === 202) expect(isValid, body).toBe(true);
      else if (isValid) {
        // The one thing that the file cannot say: which hosts a parser of URLs accepts.
        const { flow_url, status_callback_url } = JSON.parse(body);
        expect(URL.canParse(flow_url) && URL.canParse(status_callback_url), body).toBe(false);
      }
      counts[response.status === 202 ? "accepted" : "refused"]++;
    }),
    { numRuns: Number(process.env.INTERFACE_RUNS ?? 1000) },
  );
  expect(counts.accepted).toBeGreaterThan(100);
  expect(counts.refused).toBeGreaterThan(100);
  await emulator.close();
});
