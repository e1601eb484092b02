import { placingFlags } from "../call/flags.ts";

/** The options of `outdial trigger`. */
export const triggerFlags = {
  flow: {
    type: "string",
    value: "url",
    help: "your flow, or its path at the emulator; a sample that plays a tone otherwise",
  },
  callback: { type: "string", value: "url", help: "your status notifications, the same way" },
  from: { type: "string", value: "number", help: "who calls; +12025550199 otherwise" },
  "base-url": {
    type: "string",
    value: "url",
    help: "the emulator; http://127.0.0.1:4010 otherwise",
  },
  ...placingFlags,
} as const;
