import { fieldsOf, isText } from "../../../lib/check.ts";
import { endlessLoops } from "../../../performer/instructions.ts";
import { FlowError, type Line, type Part, type Played } from "../../../performer/line.ts";
import { type Asked, byMethod, jsonResponder, type Route } from "../../../server/rest.ts";
import type { VonageCall } from "./call.ts";
import { beginning } from "./context.ts";
import { contentType, jsonOf, notAllowed, refuseField, VonageError } from "./problems.ts";

const respond = jsonResponder(contentType);

const notAnswered = (): VonageError => new VonageError(400, "The call is not answered");

/** @throws {VonageError} for a call that rings, or is over */
const lineOf = ({ served, line }: VonageCall): Line => {
  if (served.state === "answered" && line) return line;
  throw notAnswered();
};

const loopsIn = (loop: unknown): number => {
  const loops = loop === undefined ? 1 : Number(loop);
  if (Number.isInteger(loops) && loops >= 0) return loops || endlessLoops;
  return refuseField("loop", "must be a whole number of 0 or more");
};

/** What the API asks to be played. */
interface LiveAudio {
  readonly part: Part;
  readonly plays: Played;
  readonly times: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Plays something beside the flow, in the place of what the API has played before, and returns once it begins. */
const play = async (
  call: VonageCall,
  action: "talk" | "stream",
  { part, plays, times, fields }: LiveAudio,
): Promise<void> => {
  const line = lineOf(call);
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>();
  const playing = line.beside(async (beside, signal) => {
    try {
      const sound = await beside.load(part, signal, times);
      if (signal.aborted) throw notAnswered();
      call.live?.stop();
      call.live = playing;
      // No document of the flow has it.
      const { duration } = sound;
      beside.begin(beginning({ step: 0 }, { ...fields, action }), { plays: [plays], duration });
      resolve();
      await sound.play(() => !signal.aborted);
    } catch (error) {
      reject(error instanceof FlowError ? new VonageError(400, error.message) : error);
    }
  });
  await begun;
};

const started = ({ served: { id: uuid } }: VonageCall, what: string): Response =>
  respond(200, { message: `${what} started`, uuid });

/** Speaks to the callee. */
const talk = async ({ text: body }: Asked, call: VonageCall): Promise<Response> => {
  const fields = fieldsOf(jsonOf(body));
  const { text, loop } = fields;
  if (!isText(text) || text === "") return refuseField("text", "must be a text");
  const spoken = { text: text.replace(/<[^>]*>/g, "") };
  const part = { type: "text", ...spoken } as const;
  await play(call, "talk", { part, plays: spoken, times: loopsIn(loop), fields });
  return started(call, "Talk");
};

/** Plays audio to the callee. */
const stream = async ({ text, isUrl }: Asked, call: VonageCall): Promise<Response> => {
  const fields = fieldsOf(jsonOf(text));
  const { stream_url, loop } = fields;
  const list: unknown[] = Array.isArray(stream_url) ? stream_url : [];
  const [url] = list;
  if (list.length !== 1 || !isText(url) || !isUrl(url)) {
    return refuseField("stream_url", "must be a list of one URL of http or https");
  }
  const part = { type: "media", source: { step: 0, field: "stream_url", url } } as const;
  await play(call, "stream", { part, plays: { media_url: url }, times: loopsIn(loop), fields });
  return started(call, "Stream");
};

/** Presses keys, which the callee hears. */
const dtmf = ({ text }: Asked, call: VonageCall): Response => {
  const { digits } = fieldsOf(jsonOf(text));
  if (!isText(digits) || !/^[\d*#p]{1,100}$/.test(digits)) {
    return refuseField("digits", "must be 1 to 100 of 0 to 9, *, # and p");
  }
  const { served } = call;
  served.sendKeys(digits);
  lineOf(call).begin(beginning({ step: 0 }, { action: "dtmf", digits }), {
    plays: [{ keys: digits }],
  });
  return respond(200, { message: "DTMF sent", uuid: served.id });
};

const stop =
  (what: string) =>
  (call: VonageCall): Response => {
    call.live?.stop();
    call.live = undefined;
    return respond(200, { message: `${what} stopped`, uuid: call.served.id });
  };

/** The operations of a live call, by their last part of the path. */
export const liveRoutes = <Parts>(
  findOrThrow: (parts: Parts) => VonageCall,
): Readonly<Record<"talk" | "stream" | "dtmf", Route<Parts>>> => {
  const answered = (parts: Parts): VonageCall => {
    const call = findOrThrow(parts);
    lineOf(call);
    return call;
  };
  return {
    talk: byMethod<Parts>(
      {
        PUT: async (asked, parts) => talk(asked, answered(parts)),
        DELETE: async (_, parts) => stop("Talk")(answered(parts)),
      },
      notAllowed,
    ),
    stream: byMethod<Parts>(
      {
        PUT: async (asked, parts) => stream(asked, answered(parts)),
        DELETE: async (_, parts) => stop("Stream")(answered(parts)),
      },
      notAllowed,
    ),
    dtmf: byMethod<Parts>(
      { PUT: async (asked, parts) => dtmf(asked, answered(parts)) },
      notAllowed,
    ),
  };
};

/** What the callee, or whoever is in the call, doesn't hear from now on: by the action of a request. */
const silencing = {
  mute: ["callee", true],
  unmute: ["callee", false],
  earmuff: ["application", true],
  unearmuff: ["application", false],
} as const;

/**
 * Mutes the callee, or what is played to the callee.
 *
 * @returns whether the action is one of those
 */
export const silence = (call: VonageCall, action: unknown): boolean => {
  const entry = Object.entries(silencing).find(([name]) => name === action)?.[1];
  if (!entry) return false;
  const line = lineOf(call);
  const { served } = call;
  const [side, isSilent] = entry;
  served.audio.silence(side, isSilent, served.talkTime);
  line.begin(beginning({ step: 0 }, { action: String(action) }));
  return true;
};
