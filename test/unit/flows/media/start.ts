import type { MediaStart } from "../../../../src/flows/media/messages.ts";

/** The first message of a stream, as a service writes it. */
export const start: MediaStart = {
  type: "start",
  account_id: "acc_1",
  call_id: "cs_1",
  stream_id: "st_1",
  message_id: 1,
  data: { encoding: "audio/l16", sample_rate: 8000, channels: 1 },
};
