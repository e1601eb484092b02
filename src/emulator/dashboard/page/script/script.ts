import { calls } from "./calls.ts";
import { elements } from "./elements.ts";
import { key } from "./key.ts";
import { live } from "./live.ts";
import { phone } from "./phone.ts";
import { server } from "./server.ts";
import { timeline } from "./timeline.ts";

/** The dashboard's script: plain JavaScript, one module in the page. */
export const script: string = [elements, server, key, phone, timeline, calls, live].join("\n");
