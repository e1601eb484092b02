/** The options of `outdial dial`. */
export const dialFlags = {
  from: { type: "string", required: true, value: "number", help: 'E.164: "+" and 7 to 15 digits' },
  flow: {
    type: "string",
    required: true,
    value: "url",
    help: "where the service asks what to do, signed for each attempt",
  },
  window: {
    type: "string",
    required: true,
    multiple: true,
    value: "hours",
    help: 'when to call: "mon-fri 09:00-20:00", once for each; or "always"',
  },
  timezone: {
    type: "string",
    value: "zone",
    help: 'whose clock that is: "Europe/Berlin"; a contact\'s own column comes first',
  },
  listen: {
    type: "string",
    value: "host:port",
    help: "receives the notifications here",
  },
  "public-url": {
    type: "string",
    value: "url",
    help: "where the service reaches --listen; on one machine as it is",
  },
  callback: {
    type: "string",
    value: "url",
    help: 'somebody else receives them: contacts end as "placed"',
  },
  rate: { type: "string", value: "calls", help: "calls a second; 1 otherwise" },
  concurrency: { type: "string", value: "calls", help: "calls that live at once; 10 otherwise" },
  attempts: { type: "string", value: "number", help: "for each contact; 1 otherwise" },
  "retry-on": {
    type: "string",
    value: "reasons",
    help: "busy, no_answer, rejected, unreachable; busy,no_answer otherwise",
  },
  "retry-after": { type: "string", value: "time", help: "before the next attempt; 15m otherwise" },
  settle: {
    type: "string",
    value: "time",
    help: "until a call is unknown whose end nobody tells; 62m30s",
  },
  until: {
    type: "string",
    value: "date",
    help: "no call begins from then on: 2026-12-24T12:00Z, or …T12:00+01:00",
  },
  "no-record": { type: "boolean", help: "no recording; calls are recorded otherwise" },
  dnc: {
    type: "string",
    value: "file",
    help: "numbers that must not be called, one a line; read again when it changes",
  },
  prefix: {
    type: "string",
    multiple: true,
    value: "start",
    help: "numbers may only begin so, such as +49; once for each",
  },
  "per-day": { type: "string", value: "calls", help: "at most; no limit otherwise" },
  variables: {
    type: "string",
    value: "columns",
    help: "columns that the flow's URL carries; URLs get into logs",
  },
  country: {
    type: "string",
    value: "code",
    help: "of numbers without one, such as DE; otherwise each must be E.164",
  },
  journal: { type: "string", value: "file", help: "beside the list, as .outdial, otherwise" },
  "base-url": { type: "string", value: "url", help: "the service (or OUTDIAL_BASE_URL)" },
  "dry-run": { type: "boolean", help: "tells what would be done, and calls nobody" },
  yes: { type: "boolean", help: "doesn't ask; required where no terminal is" },
  json: { type: "boolean", help: "one line of JSON at the end; errors too, on stderr" },
} as const;
