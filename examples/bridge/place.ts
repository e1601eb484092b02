import { calls, isException } from "outdial";
import { signUrl } from "outdial/callbacks";
import { json, refuse } from "./answer.ts";
import type { Caller, Config } from "./config.ts";
import type { State } from "./state.ts";

/** Bytes of `{ "to_number": "+12025550100" }`, with room for a pretty printer. */
const largest = 256;

/** How long the URLs of a call are good for, in seconds: as long as the service may need them. */
const flowFor = 3600;
const statusFor = 86_400;

/** The one field that a caller may choose; undefined when the body is anything else. */
const numberIn = (body: string): string | undefined => {
  try {
    const { to_number, ...others } = Object(JSON.parse(body));
    const isNumber = typeof to_number === "string" && /^\+[1-9]\d{6,14}$/.test(to_number);
    return isNumber && Object.keys(others).length === 0 ? to_number : undefined;
  } catch {
    return undefined;
  }
};

/** `POST /calls`: all that stands between a token and a telephone that rings at your cost. */
export const place = async (
  request: Request,
  caller: Caller,
  config: Config,
  state: State,
): Promise<Response> => {
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  if (Number.isNaN(length)) return refuse(411, "length_required");
  if (length > largest) return refuse(413, "too_large");
  const to_number = numberIn(await request.text());
  if (to_number === undefined) return refuse(400, "not_a_number_in_E.164");
  if (!caller.prefixes.some((prefix) => to_number.startsWith(prefix))) {
    return refuse(403, "destination_not_allowed");
  }
  const wait = await state.spend(caller.name, [
    { calls: caller.per_minute, seconds: 60 },
    { calls: caller.per_day, seconds: 86_400 },
  ]);
  if (wait > 0) return refuse(429, "too_many_calls", { "Retry-After": String(wait) });

  const id = crypto.randomUUID();
  const context = { id, caller: caller.name };
  const { secret, publicUrl, apiKey, baseUrl, fromNumber: from_number, record } = config;
  // Before the call: its first notification may come before the service's answer.
  await state.note(id, { caller: caller.name });
  const location = { Location: `/calls/${id}` };
  try {
    const sign = (path: string, expiresIn: number) =>
      signUrl(publicUrl + path, { secret, context, expiresIn });
    const call = await calls.create(
      {
        from_number,
        to_number,
        flow_url: await sign("/flow", flowFor),
        status_callback_url: await sign("/status", statusFor),
        record,
      },
      { apiKey, baseUrl },
    );
    await state.note(id, { call_id: call.id });
    return json(201, { id, call_id: call.id }, location);
  } catch (error) {
    const isKnown = isException(error);
    console.error(isKnown ? error.message : Object(error).name); // Without the key and the numbers.
    // A 503 invites to try again: only when no telephone has rung. Else its outcome comes to the id.
    if (isKnown && error.placed === "no") return refuse(503, "not_placed");
    return json(202, { id, placed: "maybe" }, location);
  }
};
