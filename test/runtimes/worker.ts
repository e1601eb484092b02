import type { DurableStorage } from "outdial/campaigns";
import { cases as campaigns } from "../conformance/campaigns.ts";
import { cases } from "../conformance/index.ts";
import { listIn, report, run } from "../conformance/run.ts";
import { inspect } from "./inspect.ts";

/** What is used of a Durable Object's state. */
interface State {
  readonly storage: DurableStorage & { deleteAll(): Promise<void> };
}

/** What is used of the binding to Durable Objects. */
interface Rooms {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
}

/** The cases that want a database: here a Durable Object has one. */
export class Room {
  readonly #storage: State["storage"];

  constructor({ storage }: State) {
    this.#storage = storage;
  }

  async fetch(): Promise<Response> {
    const storage = async () => {
      await this.#storage.deleteAll();
      return this.#storage;
    };
    return Response.json(await run({ runtime: "workerd", peer: "", inspect, storage }, campaigns));
  }
}

/** The list as a Cloudflare Worker. */
export default {
  async fetch(request: Request, { ROOMS }: { readonly ROOMS: Rooms }): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const peer = searchParams.get("peer") ?? "";
    const list = listIn(searchParams.get("list"));
    const unhandled: string[] = [];
    addEventListener("unhandledrejection", ({ reason }) => unhandled.push(String(reason)));
    const inRoom = async () => (await ROOMS.get(ROOMS.idFromName("room")).fetch(request)).json();
    const others = cases.filter((one) => !campaigns.includes(one));
    const results = list
      ? await run({ runtime: "workerd", peer, ...list, inspect })
      : [...(await run({ runtime: "workerd", peer, inspect }, others)), ...(await inRoom())];
    return new Response(
      [...unhandled.map((each) => `UNHANDLED ${each}`), report(results)].join("\n"),
    );
  },
};
