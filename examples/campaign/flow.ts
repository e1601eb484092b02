import { signUrl } from "outdial/callbacks";
import { flowHandler, hangup, play, stream } from "outdial/flows";
import type { Config } from "./config.ts";

/** Seconds for which the media URL is valid: the service connects at once. */
const mediaFor = 60;

/** Milliseconds of audio per message. Short ones make interruptions faster. */
const chunk_size = 80;

/**
 * What happens after the answer: an agent speaks (`talk.ts`), or a message is played, or the call ends. Change it as
 * you need: `context` has the contact's `id` and the `variables` of the plan.
 */
export const createFlow = ({ secret, publicUrl, agent, messageUrl }: Config) =>
  flowHandler({
    secret,
    onAnswer: async ({ context }) => {
      if (!agent) return messageUrl ? play(messageUrl) : hangup();
      const media = `${publicUrl.replace(/^http/, "ws")}/media`;
      const ws_url = await signUrl(media, { secret, context, expiresIn: mediaFor });
      return stream(ws_url, { chunk_size, sample_rate: "8k" });
    },
    onError: (error) => console.error(Object(error).name, Object(error).message),
  });
