import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createEmulator } from "outdial/emulator";
import type { Interface } from "./interface.ts";
import { endOf, numberOf, type Oddity, oddityOf } from "./oddities.ts";
import { keyOf, type Postman } from "./postman.ts";

/** One POST as the service saw it. */
interface Post {
  readonly key: string;
  /** The name of the service, where the list has several. */
  readonly service?: string | undefined;
  readonly to_number: string;
  /** Whether the answer says for certain that nothing was placed. */
  readonly isNo: boolean;
}

/** The emulator behind a front that has more odd numbers, and counts. */
export interface Service {
  readonly url: string;
  readonly apiKey: string;
  readonly posts: readonly Post[];
  /** Refuses connections from now on, or takes them again. */
  readonly close: () => void;
  readonly open: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** What an oddity answers before the emulator is asked, if it does. */
const refusalsOf = ({ refusal }: Interface): Partial<Record<Oddity, number>> => ({
  refused: refusal,
  down: 503,
});

const detail = JSON.stringify({ detail: "not this one" });

export const startService = async (
  contacts: number,
  postman: Postman,
  spoken: Interface,
  name?: string,
): Promise<Service> => {
  const refusals = refusalsOf(spoken);
  const indexOf = new Map(Array.from({ length: contacts }, (_, index) => [numberOf(index), index]));
  const emulator = createEmulator({
    service: spoken.service,
    speed: 200,
    keep: 10 * contacts,
    onCall: ({ to_number }) => endOf(indexOf.get(to_number) ?? 0),
    fetch: async (request) => {
      if (!request.url.includes("/status")) return spoken.hangup();
      const body = await request.text();
      if (name !== undefined) {
        const forged = JSON.stringify({ ...JSON.parse(body), type: "call.failed" });
        postman.forge(request.url, name === "main" ? "spare" : "main", forged);
      }
      return postman.take(request.url, body);
    },
  });
  const posts: Post[] = [];
  const deferred = new Set<string>();
  // Only a client closes an idle connection: a POST may be on its way on it.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const url = `http://127.0.0.1${request.url}`;
    const headers = spoken.headersFor(emulator.apiKey);
    if (request.method === "GET") {
      const call = await emulator.fetch(url, { headers });
      return void response.writeHead(call.status).end(await call.text());
    }
    let body = "";
    for await (const chunk of request) body += chunk;
    const { to_number, status_callback_url } = spoken.readCall(body);
    const oddity = oddityOf(indexOf.get(to_number) ?? 0);
    const isBusy = oddity === "busy_at_first" && !deferred.has(to_number);
    const status = isBusy ? 429 : refusals[oddity];
    const reported = { key: keyOf(status_callback_url), to_number, service: name };
    if (status) {
      posts.push({ ...reported, isNo: spoken.refuses(status) });
      deferred.add(to_number);
      return void response.writeHead(status, { "Retry-After": "1" }).end(detail);
    }
    const asked = emulator.fetch(url, { method: "POST", headers, body });
    const answer = await asked.catch(() => undefined);
    posts.push({ ...reported, isNo: answer?.status === 429 });
    if (!answer || oddity === "cut") return void response.destroy();
    if (oddity === "silent") return;
    if (oddity === "placed_and_down") return void response.writeHead(503).end(detail);
    const text = await answer.text();
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(oddity === "garbled" ? "{" : text);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    apiKey: emulator.apiKey,
    posts,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
    open: () => (server.listening ? Promise.resolve() : listen(port)),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      emulator.reset();
      await emulator.close();
    },
  };
};
