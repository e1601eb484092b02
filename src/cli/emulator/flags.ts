/** The options of `outdial emulator`. */
export const emulatorFlags = {
  port: { type: "string", value: "port", help: "4010 otherwise; 0 for any that is free" },
  host: { type: "string", value: "host", help: "127.0.0.1 otherwise" },
  number: {
    type: "string",
    value: "number",
    multiple: true,
    help: "a number that may call, once for each; any may otherwise",
  },
  "forward-to": {
    type: "string",
    value: "origin",
    help: "where your application is: http://localhost:3000; see below",
  },
  ring: { type: "string", value: "seconds", help: "how long a telephone rings; 2 otherwise" },
  speed: {
    type: "string",
    value: "factor",
    help: "how many times as fast as real time everything happens",
  },
  json: { type: "boolean", help: "everything as lines of JSON; errors too, on stderr" },
} as const;
