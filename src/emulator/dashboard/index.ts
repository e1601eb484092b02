/** The dashboard of an emulator on a port, for the command `outdial emulator`. */
export { Attendant } from "./attendant.ts";
export { dashboard } from "./routes.ts";
