import { call } from "./call/call.ts";
import type { Command } from "./command/command.ts";
import { emulator } from "./emulator/emulator.ts";
import { trigger } from "./trigger/trigger.ts";

/** Every command, in the order in which the help tells them. */
export const commands: readonly Command[] = [call, emulator, trigger];
