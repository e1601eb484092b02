import { fileURLToPath } from "node:url";

/** This folder, with a slash at its end. */
export const here: string = fileURLToPath(new URL(".", import.meta.url));
