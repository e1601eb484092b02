import { block } from "./block/block.ts";
import { call } from "./call/call.ts";
import type { Command } from "./command/command.ts";
import { dial } from "./dial/dial.ts";
import { emulator } from "./emulator/emulator.ts";
import { results } from "./results/results.ts";
import { trigger } from "./trigger/trigger.ts";

/** Every command, in the order in which the help tells them. */
export const commands: readonly Command[] = [call, dial, results, block, emulator, trigger];
