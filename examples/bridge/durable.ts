import { verifyUrl } from "outdial/callbacks";
import type { Context } from "outdial/flows";
import { configOf } from "./config.ts";
import { echoAgent } from "./echo-agent.ts";
import { oneMore, withNews } from "./known.ts";
import { type Lines, linesHere, type Upgrade } from "./lines.ts";
import type { KnownCall, Limit, Once, State } from "./state.ts";

/** As much of a Durable Object's storage as is needed. */
interface Storage {
  get<T>(key: string): Promise<T | undefined>;
  put(key: string, value: unknown): Promise<void>;
}

/** The namespace of the objects, as a binding gives it. */
export interface Objects {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
}

/** The variables of the Worker, and its objects. */
export type Env = Readonly<Record<string, unknown>>;

/** A way of asking an object that only the Worker can go. */
const ask = (objects: Objects, name: string, what: string, body: unknown): Promise<Response> =>
  objects
    .get(objects.idFromName(name))
    .fetch(new Request(`https://object/${what}`, { method: "POST", body: JSON.stringify(body) }));

/** Remembers in objects: one for each call, and one for each caller. It outlives every isolate. */
export const stateIn = (objects: Objects): State => {
  const answer = async <T>(name: string, what: string, body: unknown): Promise<T> =>
    (await ask(objects, name, what, body)).json();
  return {
    spend: (caller, limits) => answer(`caller ${caller}`, "spend", limits),
    note: (id, news) => answer(`call ${id}`, "note", { id, news }),
    claim: (id, what) => answer(`call ${id}`, "claim", what),
    find: async (id) => (await answer<KnownCall | null>(`call ${id}`, "find", id)) ?? undefined,
  };
};

/** Talks in the objects of their calls: there they are warm, whichever isolate the service reaches. */
export const linesIn = (objects: Objects): Lines => ({
  ringing: (id) => ask(objects, `call ${id}`, "ringing", id),
  over: (id) => ask(objects, `call ${id}`, "over", id),
  connect: (request, _, id) => objects.get(objects.idFromName(`call ${id}`)).fetch(request),
});

/** One call, or one caller: what is known of it, and its talk. Only the Worker reaches it. */
export const objectClass = (upgrade: Upgrade) =>
  class {
    readonly #storage: Storage;
    readonly #secret: readonly string[];
    readonly #lines: Lines;
    /** Whether the call's talk began in this isolate. */
    #isHere = false;

    constructor({ storage }: { readonly storage: Storage }, env: Env) {
      const config = configOf((name) => env[name] as string | undefined);
      this.#storage = storage;
      this.#secret = config.secret;
      this.#lines = linesHere(config, echoAgent, {
        onProblem: (id, problem) => this.#note({ id, news: { problem } }),
        onError: (error) => console.error(Object(error).name, Object(error).message),
      });
    }

    async fetch(request: Request): Promise<Response> {
      const { pathname } = new URL(request.url);
      if (pathname === "/media") {
        const context = await verifyUrl(request.url, { secret: this.#secret });
        return this.#connect(request, String(context.id), context);
      }
      const body = await request.json();
      return Response.json((await this.#does[pathname.slice(1)]?.(body)) ?? null);
    }

    async #connect(request: Request, id: string, context: Context): Promise<Response> {
      this.#isHere = true;
      await this.#storage.put("talks", true);
      const upgraded: Upgrade = (asked) => {
        const made = upgrade(asked);
        made.socket.addEventListener("close", () => this.#storage.put("talks", false));
        return made;
      };
      return this.#lines.connect(request, upgraded, id, context);
    }

    /** A deploy ends every isolate, and the talks in them: nobody is left there to note it. */
    async #over(id: string): Promise<void> {
      this.#lines.over(id);
      const isCut = !this.#isHere && (await this.#storage.get("talks"));
      if (isCut) await this.#note({ id, news: { problem: "restarted" } });
    }

    async #note({ id, news }: { readonly id: string; readonly news: Partial<KnownCall> }) {
      const known = await this.#storage.get<KnownCall>("call");
      await this.#storage.put("call", withNews(id, known, news));
    }

    // biome-ignore lint/suspicious/noExplicitAny: each takes what its name was asked with
    readonly #does: Readonly<Record<string, (body: any) => unknown>> = {
      ringing: (id: string) => void this.#lines.ringing(id),
      over: (id: string) => this.#over(id),
      note: (body) => this.#note(body),
      find: () => this.#storage.get("call"),
      claim: async (what: Once) => {
        const isFirst = !(await this.#storage.get(`claimed ${what}`));
        await this.#storage.put(`claimed ${what}`, true);
        return isFirst;
      },
      spend: async (limits: readonly Limit[]) => {
        const times = (await this.#storage.get<readonly number[]>("times")) ?? [];
        const { wait, times: after } = oneMore(times, limits, Date.now());
        await this.#storage.put("times", after);
        return wait;
      },
    };
  };
