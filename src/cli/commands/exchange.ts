import { BadParametersException } from "../../index.ts";
import {
  type Command,
  defineCommand,
  exits,
  issueLine,
  issuesByFlag,
  suggestion,
  UsageError,
} from "../command.ts";
import { type Action, actions, checkFlags, exchangeFlags } from "../exchange/flags.ts";

/** @throws {UsageError} for another action */
const actionOf = (given: string | undefined): Action => {
  if (given === undefined) return "serve";
  const action = actions.find((each) => each === given);
  if (action) return action;
  throw new UsageError(
    `there is no such action: ${actions.join(", ")}${suggestion(given, actions)}`,
  );
};

/** `outdial exchange`: the service on a telephone exchange of one's own. */
export const command: Command = defineCommand({
  args: ["action?"],
  choices: actions,
  flags: exchangeFlags,
  example: "exchange init --trunk sip.example.net --trunk-user me --number +12025550199 --allow +1",
  notes: [
    `Experimental: the service with real calls, by Asterisk 22.6 or later and a SIP trunk, on Linux and
Node. No public trunk has been tried.`,
    `init writes outdial-exchange.json, its secrets in a file of their own, the configuration of
Asterisk, units of systemd and compose.yaml. The trunk's password comes from OUTDIAL_TRUNK_PASSWORD
or a file, never from the command line.`,
    `check says what is wrong, and what to do next: Asterisk, its modules and sockets, the trunk, clock,
disk, what listens on a public address. --call NUMBER places a call.`,
    `Without an action it serves, until ctrl-C or SIGTERM: then it takes no new calls, and waits for the
live ones. The key is shown once.`,
    `It is closed: no prefix is called before you allow one, also by a flow's dial, and no address that
is not public before you name it. Emergency and short numbers are never called.`,
  ],
  exits: {
    0: "done; ended by ctrl-C or SIGTERM",
    1: "check found something wrong; Asterisk isn't reached, a port can't be opened, a file exists",
    2: "the command line or a setting is wrong",
    130: "a question was canceled",
  },
  run: async ({ flags, args: [given], ...host }) => {
    const action = actionOf(given);
    if ("Deno" in globalThis || "Bun" in globalThis) throw new UsageError("exchange needs Node");
    checkFlags(action, flags);
    try {
      switch (action) {
        case "init": {
          const { initExchange } = await import("../exchange/init.ts");
          await initExchange(flags, host);
          return exits.done;
        }
        case "check": {
          const { checkExchange } = await import("../exchange/check.ts");
          return (await checkExchange(flags, host)) ? exits.done : exits.refused;
        }
        case "serve": {
          const { serveExchange } = await import("../exchange/serve.ts");
          const { openService } = await import("../../exchange/service.ts");
          const { openStore } = await import("../../exchange/store.ts");
          await serveExchange(flags, host, { openStore, openService });
          return exits.done;
        }
      }
    } catch (error) {
      if (!(error instanceof BadParametersException)) throw error;
      throw new UsageError(issueLine(issuesByFlag(error.issues, exchangeFlags, {})));
    }
  },
});
