/** The messages of a Media Stream, as Twilio's documents and public captures show them. */
const streamSid = "MZ18ad3ab5a668481ce02b83e7395059f0";
const callSid = "CAb6bb37c8b3a1e5e3ac4d8ec1c2f3a4d5";
const accountSid = "AC0123456789abcdef0123456789abcdef";

export const connected = { event: "connected", protocol: "Call", version: "1.0.0" };

export const start = {
  event: "start",
  sequenceNumber: "1",
  start: {
    accountSid,
    streamSid,
    callSid,
    tracks: ["inbound"],
    mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
    customParameters: {},
  },
  streamSid,
};

/** A `start` with the query of a signed URL, in parameters of at most so many characters. */
export const signedStart = (signed: string, most = 450) => {
  const query = signed.slice(signed.indexOf("?") + 1);
  const parts = query.match(new RegExp(`.{1,${most}}`, "g")) ?? [];
  const customParameters = Object.fromEntries(
    parts.map((part, at) => [`outdial.${at}`, part] as const),
  );
  return { ...start, start: { ...start.start, customParameters } };
};

export const media = (payload: string, at = 1) => ({
  event: "media",
  sequenceNumber: String(at + 1),
  media: { track: "inbound", chunk: String(at), timestamp: String(at * 20), payload },
  streamSid,
});

export const dtmf = {
  event: "dtmf",
  streamSid,
  sequenceNumber: "5",
  dtmf: { track: "inbound_track", digit: "1" },
};

export const mark = (name: string) => ({
  event: "mark",
  sequenceNumber: "4",
  streamSid,
  mark: { name },
});

export const stop = {
  event: "stop",
  sequenceNumber: "5",
  stop: { accountSid, callSid },
  streamSid,
};
