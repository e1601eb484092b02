import { createEmulator, type Emulator } from "../../emulator/emulator.ts";
import type { EmulatorOptions } from "../../emulator/options.ts";
import { BadParametersException } from "../../errors.ts";
import { UsageError } from "../command/failure.ts";
import { chosenKey, keep, keptAccount } from "../local/account.ts";

const flagOf: Readonly<Record<string, string>> = {
  host: "--host",
  numbers: "--number",
  speed: "--speed",
};

/** @throws {UsageError} naming the option whose rule is broken */
const create = (options: EmulatorOptions): Emulator => {
  try {
    return createEmulator(options);
  } catch (error) {
    if (!(error instanceof BadParametersException)) throw error;
    const [issue] = error.issues;
    throw new UsageError(`${flagOf[issue?.param ?? ""] ?? issue?.param} ${issue?.message}`);
  }
};

/** An emulator with the key and the secret of the last start; the next one will find them too. */
export const startEmulator = (options: EmulatorOptions): Emulator => {
  const kept = keptAccount();
  const chosen = chosenKey();
  const emulator = create({ ...kept, ...(chosen && { apiKey: chosen }), ...options });
  const { apiKey, webhookSecret } = emulator;
  const now = { apiKey: chosen ? kept.apiKey : apiKey, webhookSecret };
  if (now.apiKey !== kept.apiKey || webhookSecret !== kept.webhookSecret) keep(now);
  return emulator;
};
