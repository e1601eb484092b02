/** The messages of a media stream, as Telnyx's documents show them. */
export const stream_id = "32DE0DEA-53CB-4B21-89A4-9E1819C043BC";
const user_id = "3E6F995F-85F7-4705-9741-53B116D28237";
export const call_control_id = "v2:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ";

export const connected = { event: "connected", version: "1.0.0" };

export const start = {
  event: "start",
  sequence_number: "1",
  start: {
    user_id,
    call_control_id,
    call_session_id: "ff55a038-6f5d-11ef-9692-02420aeffb1f",
    from: "+13122010094",
    to: "+13122123456",
    tags: ["TAG1", "TAG2"],
    client_state: "aGF2ZSBhIG5pY2UgZGF5ID1d",
    media_format: { encoding: "PCMU", sample_rate: 8000, channels: 1 },
    custom_parameters: {},
  },
  stream_id,
};

/** A `start` with parameters. */
export const startWith = (custom_parameters: Readonly<Record<string, unknown>>) => ({
  ...start,
  start: { ...start.start, custom_parameters },
});

export const media = (payload: string) => ({
  event: "media",
  sequence_number: "4",
  media: { track: "inbound", chunk: "2", timestamp: "5", payload },
  stream_id,
});

export const mark = (name: string) => ({
  event: "mark",
  stream_id,
  sequence_number: "5",
  mark: { name },
});

export const dtmf = {
  event: "dtmf",
  stream_id,
  occurred_at: "2025-06-05T08:54:19.698408Z",
  sequence_number: "5",
  dtmf: { digit: "1" },
};

export const error = {
  event: "error",
  payload: { code: 100005, title: "rate_limit_reached", detail: "Too many requests" },
  stream_id,
};

export const stop = {
  event: "stop",
  sequence_number: "5",
  stop: { user_id, call_control_id },
  stream_id,
};
