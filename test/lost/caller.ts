import { calls, isException } from "outdial";
import { calls as straight } from "outdial/fetch";
import { type Planned, planOf } from "./plan.ts";

declare const Deno: { readonly args: readonly string[] } | undefined;
declare const process: { readonly argv: readonly string[] };

/** What a caller is started with. */
export interface Given {
  readonly runtime: string;
  readonly seed: number;
  readonly count: number;
  readonly baseUrl: string;
  /** Where the connection is refused after the first POST. */
  readonly vanishing: string;
}

/** What came of a call, as its caller knows it. */
export interface Came {
  readonly name: string;
  /** Without one it failed. */
  readonly id?: string;
  readonly placed?: string | undefined;
  readonly message?: string;
}

const entries = { outdial: calls, "outdial/fetch": straight } as const;

const paramsOf = (name: string, fates: unknown) => ({
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: `https://app.test/flow?${new URLSearchParams({ name, fates: JSON.stringify(fates) })}`,
  status_callback_url: "https://app.test/status",
});

const place = async (
  { name, entry, key, fates }: Omit<Planned, "ends">,
  baseUrl: string,
  timeout: number,
): Promise<Came> => {
  const repeated =
    typeof key === "string" ? { idempotencyKey: key } : { ...(key && { idempotent: true }) };
  try {
    const { id } = await entries[entry].create(paramsOf(name, fates), {
      ...{ apiKey: "ak_lost_and_found", baseUrl, timeout, path: "calls", ...repeated },
    });
    return { name, id };
  } catch (error) {
    if (!isException(error)) throw error;
    return { name, placed: error.placed, message: `${error.name} ${error.message}` };
  }
};

const [given = ""] = typeof Deno === "undefined" ? process.argv.slice(2) : Deno.args;
const { runtime, seed, count, baseUrl, vanishing }: Given = JSON.parse(given);
// Each deadline is enough for a silent POST, and an answer after it on a busy machine.
const plan = [...planOf(runtime, seed, count)];
const came: Came[] = [];
const lane = async () => {
  for (let next = plan.shift(); next; next = plan.shift())
    came.push(await place(next, baseUrl, 15_000));
};
await Promise.all(Array.from({ length: 40 }, lane));
const refused = { name: `${runtime}-refused`, entry: "outdial", key: true, fates: [] } as const;
came.push(await place(refused, vanishing, 2_000));
console.log(`LOST ${JSON.stringify(came)}`);
