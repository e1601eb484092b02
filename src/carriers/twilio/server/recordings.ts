import { byMethod, jsonResponder, type Route } from "../../../server/rest.ts";
import {
  type CallRecording,
  fileOf,
  type MarkupCall,
  rfc2822,
  secondsOf,
} from "../../xml/server/call.ts";
import { FormReader, recordingEvents } from "../../xml/server/fields.ts";
import type { MarkupCarrier } from "../../xml/server/flow.ts";
import { beginRecording, endRecording } from "../../xml/server/record.ts";
import { pageOf } from "../../xml/server/resources.ts";
import { type MarkupRestParts, recordingNamed } from "../../xml/server/side.ts";
import { contentType, notAllowed, notFound, TwilioError, twilioForm } from "./problems.ts";

/** What the routes need beside what every route of a call needs. */
export interface RecordingParts extends MarkupRestParts {
  readonly accountSid: string;
  readonly carrier: MarkupCarrier;
}

type RecordingRoute = Route<RecordingParts>;

const respond = jsonResponder(contentType);

/** A recording, and the call that it is of. */
interface Found {
  readonly call: MarkupCall;
  readonly recording: CallRecording;
}

/** A recording as the API returns it. */
const resourceOf = ({ call, recording }: Found): object => {
  const { served, accountSid, recordingUrl } = call;
  const { sid, source, channels, track, from, to, status } = recording;
  const { answered_at = served.facts.initiated_at } = served.facts;
  const begun = rfc2822(answered_at + from);
  const uri = `/2010-04-01/Accounts/${accountSid}/Recordings/${sid}.json`;
  return {
    account_sid: accountSid,
    api_version: "2010-04-01",
    call_sid: served.id,
    conference_sid: null,
    channels,
    date_created: begun,
    date_updated: to === undefined ? begun : rfc2822(answered_at + to),
    start_time: begun,
    duration: to === undefined ? "-1" : String(secondsOf(recording)),
    encryption_details: null,
    error_code: null,
    media_url: recordingUrl(sid),
    price: null,
    price_unit: "USD",
    sid,
    source,
    status,
    track,
    subresource_uris: {},
    uri,
  };
};

/** A recording of the call that a request is about, where it is about one. */
export interface RecordingName {
  readonly sid: string;
  readonly callSid?: string;
}

/** @throws {TwilioError} for a recording that is unknown, was deleted, or is of another call */
const findOrThrow = (
  parts: RecordingParts,
  { sid, callSid }: RecordingName,
  path: string,
): Found => {
  const latest = callSid === undefined ? undefined : parts.find(callSid);
  if (sid === "Twilio.CURRENT" && latest) {
    const recording = latest.recordings.findLast(({ to }) => to === undefined);
    if (recording) return { call: latest, recording };
  }
  const found = recordingNamed(parts, sid);
  if (found && (callSid === undefined || found.call.served.id === callSid)) return found;
  throw notFound(path);
};

/** What a list of recordings is filtered and paged by. */
const listed: ReadonlySet<string> = new Set([
  ...["CallSid", "DateCreated", "DateCreated<", "DateCreated>"],
  ...["Page", "PageSize", "PageToken", "IncludeSoftDeleted"],
]);

/** @throws {TwilioError} for a filter that is not emulated, or no date */
const isCreated = (query: URLSearchParams): ((day: string) => boolean) => {
  const dates = ["DateCreated", "DateCreated<", "DateCreated>"].map((name) => {
    const date = query.get(name)?.slice(0, 10);
    if (date === undefined || /^\d{4}-\d\d-\d\d$/.test(date)) return date;
    throw new TwilioError(400, 20_001, `${name} must be a date, such as 2026-01-31`);
  });
  const [on, before, after] = dates;
  return (day) =>
    (on === undefined || day === on) &&
    (before === undefined || day <= before) &&
    (after === undefined || day >= after);
};

/** Lists recordings, of one call or of all. */
const list =
  (callSid?: string): RecordingRoute =>
  async ({ url }, parts) => {
    const { searchParams: query } = url;
    const other = [...query.keys()].find((name) => !listed.has(name));
    if (other !== undefined) throw new TwilioError(400, 20_001, `${other} is not emulated`);
    const isWanted = isCreated(query);
    const wantedCall = callSid ?? query.get("CallSid") ?? undefined;
    if (callSid !== undefined && !parts.find(callSid)) throw notFound(url.pathname);
    const found = parts.allCalls().flatMap(({ id, facts: { answered_at = 0 } }): Found[] => {
      const call = wantedCall === undefined || wantedCall === id ? parts.find(id) : undefined;
      if (!call) return [];
      return call.recordings
        .filter(({ from }) => isWanted(new Date(answered_at + from).toISOString().slice(0, 10)))
        .map((recording) => ({ call, recording }));
    });
    return respond(200, pageOf(url, "recordings", found, resourceOf));
  };

const tracks = ["both", "inbound", "outbound"] as const;

/** Begins a recording of an answered call. */
const begin =
  (callSid: string): RecordingRoute =>
  async ({ text, isUrl, url }, parts) => {
    const call = parts.find(callSid);
    if (!call) throw notFound(url.pathname);
    const { served, notify } = call;
    const reader = new FormReader(new URLSearchParams(text), twilioForm, isUrl);
    const wanted = reader.text("RecordingTrack") || "both";
    const track = tracks.find((each) => each === wanted);
    const channels = reader.text("RecordingChannels") || "mono";
    if (!track) throw new TwilioError(400, 20_001, `RecordingTrack must be ${tracks.join(", ")}`);
    if (channels !== "mono" && channels !== "dual") {
      throw new TwilioError(400, 20_001, "RecordingChannels must be mono or dual");
    }
    const receiver = reader.receiver("RecordingStatusCallback", recordingEvents);
    if (served.state !== "answered" || !notify) {
      throw new TwilioError(400, 21_220, "Requested resource is not eligible for recording");
    }
    const plan = {
      source: "StartCallRecordingAPI",
      channels: channels === "dual" ? 2 : 1,
    } as const;
    const { recording, messages } = beginRecording(
      call,
      { ...plan, track, receiver },
      parts.carrier,
    );
    notify(messages);
    return respond(201, resourceOf({ call, recording }));
  };

/** Stops, pauses or resumes a recording that runs. */
const update =
  (name: RecordingName): RecordingRoute =>
  async ({ text, url }, parts) => {
    const { call, recording } = findOrThrow(parts, name, url.pathname);
    const form = new URLSearchParams(text);
    const { served } = call;
    const refuse = (rule: string): never => {
      throw new TwilioError(400, 20_001, rule);
    };
    const { gaps } = recording;
    if (recording.to !== undefined || !gaps) return refuse("The recording is not in progress");
    if (form.get("PauseBehavior") === "skip") return refuse("PauseBehavior skip is not emulated");
    switch (form.get("Status")) {
      case "stopped":
        call.notify?.(endRecording(call, recording, parts.carrier));
        break;
      case "paused":
        if (recording.status === "paused") break;
        recording.status = "paused";
        gaps.push({ from: served.talkTime, to: Number.POSITIVE_INFINITY });
        break;
      case "in-progress": {
        recording.status = "in-progress";
        const gap = gaps.at(-1);
        if (gap) gap.to = Math.min(gap.to, served.talkTime);
        break;
      }
      default:
        return refuse("Status must be stopped, paused or in-progress");
    }
    return respond(200, resourceOf({ call, recording }));
  };

/** Deletes a recording that has ended. */
const remove =
  (name: RecordingName): RecordingRoute =>
  async ({ url }, parts) => {
    const { call, recording } = findOrThrow(parts, name, url.pathname);
    if (recording.to === undefined) {
      throw new TwilioError(409, 20_409, "The recording is in progress: stop it first");
    }
    call.recordings.splice(call.recordings.indexOf(recording), 1);
    return new Response(null, { status: 204 });
  };

const read =
  (name: RecordingName): RecordingRoute =>
  async ({ url }, parts) =>
    respond(200, resourceOf(findOrThrow(parts, name, url.pathname)));

/** All recordings of the account. */
export const allRecordings: RecordingRoute = byMethod({ GET: list() }, notAllowed);

/** The recordings of one call. */
export const recordingsOf = (callSid: string): RecordingRoute =>
  byMethod({ GET: list(callSid), POST: begin(callSid) }, notAllowed);

/** One recording. Only at the path of its call it can be changed. */
export const oneRecording = (name: RecordingName): RecordingRoute =>
  byMethod(
    {
      GET: read(name),
      DELETE: remove(name),
      ...(name.callSid !== undefined && { POST: update(name) }),
    },
    notAllowed,
  );

/**
 * The audio of a recording, as whoever has its URL may fetch it.
 *
 * @param file - a SID, by itself or with `.wav` or `.mp3`
 * @returns `undefined` where there is none
 * @throws {TwilioError} for an MP3
 */
export const mediaOf = (
  parts: RecordingParts,
  file: string,
  request: Request,
): Response | undefined => {
  if (file.endsWith(".mp3"))
    throw new TwilioError(400, 20_001, ".mp3 is not emulated: fetch the .wav");
  const found = recordingNamed(parts, file.replace(".wav", ""));
  return found && fileOf(found.call, found.recording, request);
};
