import type { CallParams } from "../../calls/params.ts";
import { bytesOf, tone } from "../../emulator/recording/sound.ts";
import { wavHead } from "../../emulator/recording/wav.ts";

const sampleRate = 8_000;

const seconds = 3;

const media = (): Response => {
  const samples = sampleRate * seconds;
  const sound = bytesOf(tone(440, sampleRate, 0, samples));
  const headers = { "Content-Type": "audio/wav" };
  return new Response(new Blob([wavHead(samples, sampleRate), sound]), { headers });
};

/**
 * A call to try, but for the number that it dials.
 *
 * @param forwardTo - the application's origin, if there is one; else the emulator plays its part
 */
export const sampleCall = (
  origin: string,
  from_number: string,
  forwardTo: string | undefined,
): Omit<CallParams, "to_number"> => {
  const app = forwardTo ?? `${origin}/sample`;
  return { from_number, flow_url: `${app}/flow`, status_callback_url: `${app}/status` };
};

/** What such a call names: a flow, what it plays, and a receiver of notifications. */
const answers: Readonly<Record<string, (origin: string) => Response>> = {
  "POST /sample/flow": (origin) =>
    Response.json({ action: "play", media_url: `${origin}/sample/hello.wav` }),
  "GET /sample/hello.wav": media,
  "POST /sample/status": () => new Response(null, { status: 204 }),
};

/** Answers for an application that isn't there yet; `undefined` for what is none of its own. */
export const sample = ({ method, url }: Request): Response | undefined => {
  const { pathname, origin } = new URL(url);
  return answers[`${method} ${pathname}`]?.(origin);
};
