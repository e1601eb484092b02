import { uuidOf } from "../ids.ts";

/** The UUID with the digits of a call's id. */
const uuidOfCall = (callSid: string): string => uuidOf(callSid.replace(/^v3:/, ""));

/** The SID of a call's recording. */
export const recordingSidOf: (callSid: string) => string = uuidOfCall;

/** The id that the legs of a call have in common. */
export const sessionIdOf: (callSid: string) => string = uuidOfCall;
