/**
 * The service on your own machine, as one fetch function: for development and tests.
 *
 * @module
 */
export { createEmulator, type Emulator } from "./emulator.ts";
export type { EmulatorOptions } from "./options.ts";
