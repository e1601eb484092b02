import { flowHandler, hangup, play } from "outdial/flows";
import type { Config } from "./config.ts";

/**
 * What is done with who answers. This is yours to write: `context` has the contact's `id` and the
 * `variables` that the plan names. For a speech agent answer with `stream`, and serve its socket as
 * `examples/bridge` does.
 */
export const createFlow = ({ secret, messageUrl }: Config) =>
  flowHandler({
    secret,
    onAnswer: () => (messageUrl ? play(messageUrl) : hangup()),
    onError: (error) => console.error(Object(error).name, Object(error).message),
  });
