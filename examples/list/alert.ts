import type { Script } from "outdial/campaigns";
import { gather, hangup, say } from "outdial/flows";

/** Calls one after the other (`--concurrency 1`), until somebody acknowledges: a machine presses no key. */
export default {
  onMachine: () => hangup(),
  onAnswer: ({ contact }) =>
    gather(`Alert for ${contact.id}. The database is down. Press 4 to acknowledge.`, {
      ...{ digits: 1, as: "ack", on: { 4: "ack" }, tries: 3 },
    }),
  steps: {
    ack: async ({ campaign }) => {
      await campaign.cancel();
      return say("Acknowledged.");
    },
  },
} satisfies Script<"ack">;
