import { addKeyTone, keyInterval } from "../../../emulator/callee.ts";
import { type Asked, byMethod, jsonResponder, type Route } from "../../../emulator/rest.ts";
import {
  endlessLoops,
  mediaDuration,
  mediaHertz,
  speechDuration,
} from "../../../emulator/simulated-line.ts";
import { fieldsOf, isText } from "../../../lib/check.ts";
import { FlowError, type Played } from "../../../performer/line.ts";
import type { VonageCall } from "./call.ts";
import { VonageError } from "./fields.ts";
import { contentType, jsonOf, notAllowed, refuseField } from "./problems.ts";

const respond = jsonResponder(contentType);

const notAnswered = (): VonageError => new VonageError(400, "The call is not answered");

/** @throws {VonageError} for a call that rings, or is over */
const requireAnswered = ({ call }: VonageCall): void => {
  if (call.state !== "answered") throw notAnswered();
};

const loopsIn = (loop: unknown): number => {
  const loops = loop === undefined ? 1 : Number(loop);
  if (Number.isInteger(loops) && loops >= 0) return loops || endlessLoops;
  return refuseField("loop", "must be a whole number of 0 or more");
};

/** Plays a tone for some audio, in the place of what the API has played before. */
const play = (
  known: VonageCall,
  kind: "talk" | "stream",
  plays: Played,
  duration: number,
  fields: Readonly<Record<string, unknown>>,
): Response => {
  const { call } = known;
  const { text, ...others } = fields;
  known.live?.stop();
  const from = call.talkTime;
  const track = call.recording.media;
  const tone = track.openTone(mediaHertz, from, from + duration);
  known.live = {
    stop: () => {
      tone.to = Math.max(from, Math.min(tone.to, call.talkTime));
      track.closeTone(tone);
      known.live = undefined;
    },
  };
  const attributes = Object.fromEntries(
    Object.entries(others).map(([name, value]) => [
      name,
      isText(value) ? value : JSON.stringify(value),
    ]),
  );
  // No document of the flow has it.
  call.log({
    type: "verb",
    step: 0,
    verb: kind,
    attributes,
    ...(isText(text) && { text }),
    plays: [plays],
    duration,
  });
  return started(known, kind === "talk" ? "Talk" : "Stream");
};

const started = ({ call: { id: uuid } }: VonageCall, what: string): Response =>
  respond(200, { message: `${what} started`, uuid });

/** Speaks to the callee. */
const talk = ({ text: body }: Asked, known: VonageCall): Response => {
  const fields = fieldsOf(jsonOf(body));
  const { text, loop } = fields;
  if (!isText(text) || text === "") return refuseField("text", "must be a text");
  const spoken = text.replace(/<[^>]*>/g, "");
  return play(known, "talk", { text: spoken }, loopsIn(loop) * speechDuration(spoken), fields);
};

/** Plays audio to the callee. */
const stream = async ({ text, isUrl }: Asked, known: VonageCall): Promise<Response> => {
  const fields = fieldsOf(jsonOf(text));
  const { stream_url, loop } = fields;
  const list: unknown[] = Array.isArray(stream_url) ? stream_url : [];
  const [url] = list;
  if (list.length !== 1 || !isText(url) || !isUrl(url)) {
    return refuseField("stream_url", "must be a list of one https URL");
  }
  const loops = loopsIn(loop);
  const { call, request } = known;
  if (!request) throw notAnswered();
  const source = { step: 0, field: "stream_url", url };
  try {
    const once = await mediaDuration(call, source, call.over.signal, request);
    requireAnswered(known);
    return play(known, "stream", { media_url: url }, loops * once, fields);
  } catch (error) {
    if (error instanceof FlowError) throw new VonageError(400, error.message);
    throw error;
  }
};

/** Presses keys, which the callee hears. */
const dtmf = ({ text }: Asked, known: VonageCall): Response => {
  const { digits } = fieldsOf(jsonOf(text));
  if (!isText(digits) || !/^[\d*#p]{1,100}$/.test(digits)) {
    return refuseField("digits", "must be 1 to 100 of 0 to 9, *, # and p");
  }
  const { call } = known;
  const from = call.talkTime;
  // A script gets them at once, as other audio may be in the way of the tones.
  if (call.callee) call.callee.pressed(digits.replaceAll("p", ""));
  else {
    for (const [at, digit] of [...digits].entries()) {
      if (digit !== "p") addKeyTone(call.recording.media, digit, from + at * keyInterval);
    }
  }
  const plays = [{ keys: digits }];
  call.log({ type: "verb", step: 0, verb: "dtmf", attributes: { digits }, plays });
  return respond(200, { message: "DTMF sent", uuid: call.id });
};

const stop =
  (what: string) =>
  (known: VonageCall): Response => {
    known.live?.stop();
    return respond(200, { message: `${what} stopped`, uuid: known.call.id });
  };

/** The operations of a live call, by their last part of the path. */
export const liveRoutes = <Parts>(
  findOrThrow: (parts: Parts) => VonageCall,
): Readonly<Record<"talk" | "stream" | "dtmf", Route<Parts>>> => {
  const answered = (parts: Parts): VonageCall => {
    const known = findOrThrow(parts);
    requireAnswered(known);
    return known;
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
export const silence = (known: VonageCall, action: unknown): boolean => {
  const entry = Object.entries(silencing).find(([name]) => name === action)?.[1];
  if (!entry) return false;
  requireAnswered(known);
  const { call } = known;
  const [side, isSilent] = entry;
  call.recording.silence(side, isSilent, call.talkTime);
  call.log({ type: "verb", step: 0, verb: String(action), attributes: {} });
  return true;
};
