import { type CallParams, Client, type ClientOptions, calls, type Options } from "outdial";
import { transferTo } from "outdial/agents";
import { type CallEvent, callbackHandler, type Received, timestampedHmac } from "outdial/callbacks";
import { createEmulator } from "outdial/emulator";
import { dial, flowHandler, gather, hangup, play } from "outdial/flows";
import { scriptedAgent } from "outdial/testing";
import { params } from "./params.ts";

// Each of these must not compile: without its error, the line above it is one.

const options: Options = { apiKey: "key", baseUrl: "https://voice.test" };

export const unknownField: CallParams = {
  ...params,
  // @ts-expect-error: a field that the wire doesn't have
  fromNumber: "+12025550199",
};

// @ts-expect-error: to_number is missing
export const missingField: CallParams = {
  from_number: "+12025550199",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

// @ts-expect-error: record is true, false, or absent
export const wrongField: CallParams = { ...params, record: "no" };

export const unknownOption: Options = {
  ...options,
  // @ts-expect-error: there is no such option
  timeoutMs: 5_000,
};

// @ts-expect-error: baseUrl is required
export const missingOption: Options = { apiKey: "key" };

// @ts-expect-error: a deadline is a number, or false
export const wrongOption: Options = { ...options, timeout: true };

// @ts-expect-error: the key goes first, and not into the options
export const doubleKey: ClientOptions = { apiKey: "key", baseUrl: "https://voice.test" };

export const misused = async (): Promise<void> => {
  // @ts-expect-error: the options are required here
  await calls.create(params);
  // @ts-expect-error: a client needs to know its service
  new Client("key");
  const call = await calls.create(params, options);
  // @ts-expect-error: what the service sent beside the id is unknown
  const text: string = call.status;
  // @ts-expect-error: a call can't be changed
  call.id = text;
  // @ts-expect-error: nobody vouches for the sender
  callbackHandler({ onEvent: () => {} });
  // @ts-expect-error: an answered call must be given what to do
  flowHandler({ secret: "a secret that was made at random", onAnswer: () => {} });
  // @ts-expect-error: what follows is an action, or the name of a step
  dial("+12025550100", { on_busy: 7 });
  flowHandler({
    secret: "a secret that was made at random",
    // @ts-expect-error: no step is called so
    onAnswer: () => play("https://app.test/a.wav", { next: "b" }),
    steps: { a: () => hangup() },
  });
  // @ts-expect-error: there are two clocks
  createEmulator({ clock: "fast" });
};

// @ts-expect-error: no type of a notification is spelled so
export const wrongType = (event: CallEvent): boolean => event.type === "call.completd";

export const wrongCase = ({ event }: Received): unknown => {
  if (!event.known) return event.data;
  switch (event.type) {
    case "call.completed":
      // @ts-expect-error: no field of data is spelled so
      return event.data.durration;
    case "call.failed":
      // @ts-expect-error: a call that nobody answered has no duration
      return event.data.duration;
    // @ts-expect-error: no type of a notification is spelled so
    case "call.rining":
      return undefined;
    default:
      // @ts-expect-error: a notification has no such field
      return event.callId;
  }
};

// @ts-expect-error: what isn't known may be about no call
export const unasked = ({ event }: Received): string => event.call_id;

// @ts-expect-error: nor need it say anything
export const untold = ({ event }: Received): unknown => event.data.from;

export const narrowed = ({ event }: Received): number | undefined =>
  // @ts-expect-error: a completed call has no such field
  event.type === "call.completed" ? event.data.start_time?.length : undefined;

// @ts-expect-error: a question is asked five times at most
gather("Which?", { digits: 1, tries: 9 });

// @ts-expect-error: no answer has no key
gather("Which?", { digits: 0 });

// @ts-expect-error: a key is pressed by its digits
createEmulator({ callee: [{ type: "press", digit: "1" }] });

// @ts-expect-error: a tool is not its name
scriptedAgent([], { tools: { book: "book" } });

// @ts-expect-error: where the transfer leads needs a name
transferTo({ to: "+12025550100" }, { decide: () => {} });

export const unnamed = (): unknown =>
  // @ts-expect-error: which header the signature is in must be said
  timestampedHmac({ secret: "x".repeat(16), timestampHeader: "x-time" });
