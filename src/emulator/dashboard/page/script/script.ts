import { calls } from "./calls.ts";
import { connection } from "./connection.ts";
import { elements } from "./elements.ts";
import { filters } from "./filters.ts";
import { key } from "./key.ts";
import { live } from "./live.ts";
import { phone } from "./phone.ts";
import { place } from "./place.ts";
import { plot } from "./plot.ts";
import { server } from "./server.ts";
import { timeline } from "./timeline.ts";
import { voices } from "./voices.ts";

/** The dashboard's script: plain JavaScript, one module in the page. */
export const script: string = [
  elements,
  connection,
  server,
  key,
  place,
  phone,
  timeline,
  voices,
  calls,
  filters,
  plot,
  live,
].join("\n");
