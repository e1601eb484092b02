import { signUrl } from "outdial/callbacks";
import { campaignOf, type ShardedCampaign, type ShardNamespace } from "outdial/campaigns/workers";
import { type Context, flowHandler, gather, hangup, play, say, stream } from "outdial/flows";
import type { Config } from "./config.ts";

/** Seconds for which the media URL is valid: the service connects at once. */
const mediaFor = 60;

/** Milliseconds of audio per message. Short ones make interruptions faster. */
const chunk_size = 80;

/** Milliseconds until who has asked for it is called back. */
const callBackAfter = 7_200_000;

/**
 * What happens after the answer: a question is asked, or an agent speaks (`talk.ts`), or a message is played, or the call
 * ends. Change it as you need: `context` has the contact's `id` and the `variables` of the plan.
 */
export const createFlow = (config: Config, shards: ShardNamespace) => {
  const { secret, publicUrl, agent, messageUrl, question } = config;
  /** The campaign of a call: its signed URL names it. */
  const campaignIn = ({ campaign }: Context): ShardedCampaign =>
    campaignOf(shards, String(campaign));
  return flowHandler({
    secret,
    onInput: (given) => campaignIn(given.context).note(given),
    onAnswer: async ({ context }) => {
      if (question) {
        const on = {
          "1": "thanks",
          "2": "thanks",
          "3": "thanks",
          "0": "later",
          "9": "never",
        } as const;
        return gather(question, { digits: 1, as: "answer", on, tries: 2, otherwise: "thanks" });
      }
      if (!agent) return messageUrl ? play(messageUrl) : hangup();
      const media = `${publicUrl.replace(/^http/, "ws")}/media`;
      const ws_url = await signUrl(media, { secret, context, expiresIn: mediaFor });
      return stream(ws_url, { chunk_size, sample_rate: "8k" });
    },
    steps: {
      thanks: () => say("Thank you. Goodbye."),
      later: async ({ call, context }) => {
        const at = new Date(Date.now() + callBackAfter);
        const isAgreed = await campaignIn(context).callBack(call.to_number, at);
        return say(isAgreed ? "We will call you again in two hours." : "Goodbye.");
      },
      never: async ({ call, context }) => {
        await campaignIn(context).block(call.to_number);
        return say("We will not call you again. Goodbye.");
      },
    },
    onError: (error) => console.error(Object(error).name, Object(error).message),
  });
};
