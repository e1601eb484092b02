/** What places one call: `call` and `trigger` have these in common. */
export const placingFlags = {
  "no-record": { type: "boolean", help: "no recording; calls are recorded otherwise" },
  timeout: {
    type: "string",
    value: "ms",
    help: 'how long it may take, or "false" for no limit; 10000 otherwise',
  },
  json: { type: "boolean", help: "the whole call as one line of JSON; errors too, on stderr" },
} as const;

/** The options of `outdial call`. */
export const callFlags = {
  from: { type: "string", required: true, value: "number", help: 'E.164: "+" and 7 to 15 digits' },
  to: { type: "string", required: true, value: "number", help: "the same" },
  flow: {
    type: "string",
    required: true,
    value: "url",
    help: "where the service asks what to do, once the call is answered",
  },
  callback: {
    type: "string",
    required: true,
    value: "url",
    help: "where the service tells what happens",
  },
  "base-url": { type: "string", value: "url", help: "the service (or OUTDIAL_BASE_URL)" },
  ...placingFlags,
} as const;
