import { confirm, password, text } from "@clack/prompts";
import { ask, output } from "../init/questions.ts";

/** What is asked about a trunk, the numbers and whom they may call. */
export interface Asked {
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly registers: boolean;
  readonly numbers: readonly string[];
  readonly allow: readonly string[];
}

const words = (answer: string): readonly string[] => answer.split(/[\s,]+/).filter(Boolean);

/** What is known of the command line is not asked. */
type Known = { readonly [Name in keyof Asked]: Asked[Name] | undefined };

/**
 * Asks what is not known.
 *
 * @throws {Failure} if it is canceled
 */
export const askTrunk = async (known: Known, signal: AbortSignal): Promise<Asked> => {
  const line = async (message: string, placeholder: string): Promise<string> => {
    const answer = await ask<string>(signal, (signal) =>
      text({ message, placeholder, output, signal }),
    );
    return (answer ?? "").trim();
  };
  const host = known.host ?? (await line("Which machine is the trunk?", "sip.example.net"));
  const user = known.user ?? (await line("Your name there? Empty where it knows your address", ""));
  const needsPassword = user !== "" && known.password === undefined;
  const secret = needsPassword
    ? await ask<string>(signal, (signal) =>
        password({ message: "The password there?", output, signal }),
      )
    : (known.password ?? "");
  const registers =
    known.registers ??
    (user !== "" &&
      (await ask<boolean>(signal, (signal) =>
        confirm({ message: "Does the trunk want a registration?", output, signal }),
      )));
  const numbers = known.numbers ?? words(await line("Your numbers?", "+12025550199"));
  const allow =
    known.allow ??
    words(await line("Which prefixes may be called? None is allowed by itself", "+1202 +4930"));
  return { host, user, password: secret, registers, numbers, allow };
};
