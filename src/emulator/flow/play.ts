import type { Play } from "../../flows/action.ts";
import { wavSeconds } from "../recording/wav.ts";
import { begin } from "./begin.ts";
import { elapse } from "./elapse.ts";
import { FlowError } from "./flow-error.ts";
import type { Perform } from "./parts.ts";

/** Bytes of the media in which its length should be found. */
const largest = 4_096;

/** Seconds that media last whose length can't be found. */
const otherwise = 5;

/** Stands for the media in the recording. */
const hertz = 350;

/** Plays for as long as the media's head says; what is in them is not decoded. */
export const play: Perform<Play> = async (playing, { ask }) => {
  const { call, step, place } = playing;
  const { media_url, flow_url } = playing.action;
  const { signal } = call.over;
  const init = { headers: { Range: `bytes=0-${largest - 1}` } };
  const rules = { largest, redirects: "any", local: call.local, signal } as const;
  const { response, body, error } = await ask(media_url, init, rules);
  if (signal.aborted) return;
  const field = `${place}media_url`;
  if (!response || !body) throw new FlowError(step, field, `gave no answer: ${error}`);
  if (!response.ok) throw new FlowError(step, field, `answered HTTP ${response.status}`);
  const range = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  const total = range ?? response.headers.get("Content-Length");
  const seconds = wavSeconds(body.bytes, total ? Number(total) : undefined) ?? otherwise;
  const duration = Math.round(seconds * 1000);
  begin(playing, duration);
  const from = call.talked;
  const sound = call.recording.media.tone(hertz, from, from + duration);
  await elapse(call, from + duration);
  sound.to = call.talked;
  return flow_url;
};
