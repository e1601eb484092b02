/** What the compiler says of steps: `tsc` fails where an expected error is missing. */
import type { Script } from "../../src/campaigns/index.ts";
import {
  type Action,
  audio,
  flowHandler,
  gather,
  hangup,
  pause,
  play,
  type StepInput,
  say,
} from "../../src/flows/index.ts";

const secret = "a secret that was made at random";
const flow_url = "https://app.test/flow";

// Every action, without steps.
flowHandler({ secret, onAnswer: () => say("Hello.") });
flowHandler({ secret, onAnswer: () => say(["Hello.", pause(1000), audio(flow_url)]) });
flowHandler({ secret, onAnswer: async () => gather("1?", { digits: 1, flow_url }) });
flowHandler({ secret, onAnswer: () => (Math.random() > 0.5 ? say("Hello.") : hangup()) });
flowHandler({ secret, onAnswer: (): Action => play(flow_url) });

// A function of its own, with the type of an action that names no step.
const decide = ({ digits }: StepInput): Action => (digits ? hangup() : say("Hello."));
flowHandler({ secret, onAnswer: decide });

// Steps that exist, in every place.
flowHandler({
  secret,
  onAnswer: () =>
    gather("1?", { digits: 1, as: "reply", on: { 1: "yes", 2: "no" }, otherwise: "bye" }),
  onMachine: async ({ context }) => say(`Hello ${context.name}.`, { next: "bye" }),
  onInput: ({ answers, answered_by }) => `${answers.reply} ${answered_by}`,
  steps: {
    yes: async ({ variables }) => say(`Thank you, ${variables.name}.`, { next: "bye" }),
    no: ({ attempt }) => gather(`Why? ${attempt}`, { finish_on_key: "#", next: "bye" }),
    bye: () => hangup(),
  },
});

// An action that names steps in its type.
const ask = (): Action<"yes"> => gather("1?", { digits: 1, on: { 1: "yes" } });
flowHandler({ secret, onAnswer: ask, steps: { yes: () => hangup(), no: () => hangup() } });

flowHandler({
  secret,
  // @ts-expect-error: no step has this name.
  onAnswer: () => gather("1?", { digits: 1, on: { 1: "yse" } }),
  steps: { yes: () => hangup() },
});

flowHandler({
  secret,
  // @ts-expect-error: no step has this name.
  onAnswer: async () => say("Hello.", { next: "yse" }),
  steps: { yes: () => hangup() },
});

flowHandler({
  secret,
  onAnswer: () => hangup(),
  // @ts-expect-error: no step has this name.
  onMachine: () => say("Hello.", { next: "yse" }),
  steps: { yes: () => hangup() },
});

flowHandler({
  secret,
  onAnswer: () => hangup(),
  steps: {
    yes: () => hangup(),
    // @ts-expect-error: no step has this name.
    no: async () => gather("1?", { digits: 1, next: "yes", otherwise: "yse" }),
  },
});

// @ts-expect-error: there are no steps.
flowHandler({ secret, onAnswer: () => say("Hello.", { next: "yes" }) });

// @ts-expect-error: there are no such steps.
flowHandler({ secret, onAnswer: ask, steps: { no: () => hangup() } });

// The script of a list, whose steps are named in its type.
({
  onAnswer: ({ contact }) =>
    gather(`${contact.variables.name}?`, { digits: 1, on: { 1: "yes", 9: "stop" } }),
  steps: {
    yes: () => hangup(),
    stop: async ({ contact, campaign }) => {
      await campaign.block(contact.to_number);
      return say("We will not call again.");
    },
  },
}) satisfies Script<"yes" | "stop">;

({
  // @ts-expect-error: no step has this name.
  onAnswer: () => gather("1?", { digits: 1, on: { 1: "yse" } }),
  steps: { yes: () => hangup() },
}) satisfies Script<"yes">;

// @ts-expect-error: a step that its type names is missing.
({ onAnswer: () => hangup(), steps: { yes: () => hangup() } }) satisfies Script<"yes" | "no">;
