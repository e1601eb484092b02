/**
 * The calls of an account: `create`, and the schemas of what goes in and comes out.
 *
 * @module
 */
export { Call } from "./call.ts";
export { create } from "./create.ts";
export { CallParams } from "./params.ts";
