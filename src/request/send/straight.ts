import type { Send } from "./send.ts";

/** Sends straight on `fetch`. */
export const straight: Send = (_, fetch) => fetch();
