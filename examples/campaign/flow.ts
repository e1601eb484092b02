import { signUrl } from "outdial/callbacks";
import { flowHandler, hangup, play, stream } from "outdial/flows";
import type { Config } from "./config.ts";

/** Seconds: the service connects as soon as the flow has answered. */
const mediaFor = 60;

/** Milliseconds of audio in one message: the shorter, the sooner an interruption is noticed. */
const chunk_size = 80;

/**
 * What is done with who answers: an agent talks with them (`talk.ts`), or they hear a message, or the call
 * ends. This is yours to write: `context` has the contact's `id` and the `variables` that the plan names.
 */
export const createFlow = ({ secret, publicUrl, speech, messageUrl }: Config) =>
  flowHandler({
    secret,
    onAnswer: async ({ context }) => {
      if (!speech) return messageUrl ? play(messageUrl) : hangup();
      const media = `${publicUrl.replace(/^http/, "ws")}/media`;
      const ws_url = await signUrl(media, { secret, context, expiresIn: mediaFor });
      return stream(ws_url, { chunk_size, sample_rate: "8k" });
    },
    onError: (error) => console.error(Object(error).name, Object(error).message),
  });
