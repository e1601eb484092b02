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
  args: ["action?", "number?"],
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
live ones. The key is shown once. The page shows calls, failed notifications, limits and recordings;
beside it are /metrics, /healthz and /readyz. The log is lines of JSON, without numbers and keys.`,
    `erase NUMBER deletes the calls of a number, and those in which a flow called it, with history,
notifications and recordings, whether the exchange runs or not. Live ones stay: repeat it then.`,
    `It is closed: no prefix is called before you allow one, also by a flow's dial, and no address that
is not public before you name it. Emergency and short numbers are never called.`,
  ],
  exits: {
    0: "done; ended by ctrl-C or SIGTERM",
    1: "check found something wrong; a port can't be opened, a file exists; erase left live calls",
    2: "the command line or a setting is wrong",
    130: "a question was canceled",
  },
  run: async ({ flags, args: [given, number], ...host }) => {
    const action = actionOf(given);
    if ("Deno" in globalThis || "Bun" in globalThis) throw new UsageError("exchange needs Node");
    checkFlags(action, flags);
    if (number !== undefined && action !== "erase") {
      throw new UsageError(`a number belongs to \`outdial exchange erase\``);
    }
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
        case "erase": {
          const { eraseNumber } = await import("../exchange/erase.ts");
          return await eraseNumber(number, flags, host);
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
