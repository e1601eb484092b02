import { calls } from "./calls/calls.ts";
import { filters } from "./calls/filters.ts";
import { plot } from "./calls/plot.ts";
import { timeline } from "./calls/timeline.ts";
import { voices } from "./calls/voices.ts";
import { connection } from "./connection.ts";
import { elements } from "./elements.ts";
import { key } from "./key.ts";
import { live } from "./live.ts";
import { phone } from "./phone.ts";
import { place } from "./place.ts";
import { server } from "./server.ts";

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
