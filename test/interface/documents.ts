import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ActionName, announceable } from "../../src/flows/wire.ts";
import { httpSchemas, mediaSchemas } from "./schemas.ts";

type Json = Readonly<Record<string, unknown>>;

const { version, license }: { version: string; license: string } = JSON.parse(
  readFileSync(fileURLToPath(new URL("../../package.json", import.meta.url)), "utf8"),
);

const info = (title: string, description: string): Json => ({
  title,
  version,
  description,
  license: { name: license },
});

/** OpenAPI names the license by its SPDX identifier too; AsyncAPI does not. */
const openInfo = (title: string, description: string): Json => ({
  ...info(title, description),
  license: { name: license, identifier: license },
});

/** An example of each action: a new one doesn't compile until it is here. */
const actions: Readonly<Record<ActionName, Json>> = {
  play: {
    action: "play",
    media_url: "https://app.example/hello.wav",
    flow_url: "https://app.example/flow/2",
  },
  stream: {
    action: "stream",
    ws_url: "wss://app.example/media",
    sample_rate: "16k",
    chunk_size: 20,
  },
  dial: {
    action: "dial",
    to: "+12025550123",
    timeout: 20,
    on_busy: { action: "play", media_url: "https://app.example/busy.wav" },
    on_no_answer: { action: "hangup" },
  },
  hangup: { action: "hangup" },
  say: {
    action: "say",
    prompts: [{ text: "Your table is ready." }, { pause_ms: 1000 }, { text: "Goodbye." }],
    language: "en-GB",
  },
  gather: {
    action: "gather",
    prompts: [{ text: "Press 1 to confirm." }],
    digits: 1,
    timeout_ms: 5000,
    flow_url: "https://app.example/flow/2",
  },
  record: {
    action: "record",
    prompts: [{ text: "Tell us why, then press hash." }],
    max_length_ms: 60_000,
    finish_on_key: "#",
    as: "why",
    flow_url: "https://app.example/flow/2",
  },
};

/** Numbers of the fictional range +1 XXX 555 01XX, and addresses of no one. */
const example = {
  call: {
    from_number: "+12025550199",
    to_number: "+12025550100",
    flow_url: "https://app.example/flow",
    status_callback_url: "https://app.example/status",
    record: true,
  },
  accepted: {
    message: "Call accepted.",
    data: {
      id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
      from_number: "+12025550199",
      to_number: "+12025550100",
      status_callback_url: "https://app.example/status",
      record: true,
    },
  },
  live: {
    id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
    state: "completed",
    from_number: "+12025550199",
    to_number: "+12025550100",
    created_at: "2026-06-01T10:00:00.000Z",
    answered_at: "2026-06-01T10:00:07.000Z",
    ended_at: "2026-06-01T10:00:42.000Z",
    reason: "normal",
  },
  notification: {
    id: "evt_01JZQ4N8B7C2D5F9G3H6J1KMNP",
    type: "call.completed",
    api_version: "2026-06-01",
    occurred_at: "2026-06-01T10:00:42.000Z",
    account_id: "ac_01JZQ4N1S4T7V2W5X8Y0ZABCDE",
    call_id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
    data: {
      call_id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
      from: "+12025550199",
      to: "+12025550100",
      duration: 35,
      hangup_time: "2026-06-01T10:00:42.000Z",
      reason: "normal",
    },
  },
  older: {
    event: "call.ringing",
    account_id: "ac_01JZQ4N1S4T7V2W5X8Y0ZABCDE",
    call_app_id: "app_1",
    data: {
      call_id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
      from: "+12025550199",
      to: "+12025550100",
    },
  },
  other: {
    id: "evt_01JZQ4N9C8D3E6F0G4H7J2KMNP",
    type: "recording.completed",
    account_id: "ac_01JZQ4N1S4T7V2W5X8Y0ZABCDE",
    call_id: null,
    data: { recording_url: "https://voice.example/recordings/1.wav" },
  },
  flow: {
    call_id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
    account_id: "ac_01JZQ4N1S4T7V2W5X8Y0ZABCDE",
    from_number: "+12025550199",
    to_number: "+12025550100",
    direction: "outbound",
  },
  pressed: {
    call_id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
    account_id: "ac_01JZQ4N1S4T7V2W5X8Y0ZABCDE",
    from_number: "+12025550199",
    to_number: "+12025550100",
    direction: "outbound",
    actions: announceable,
    digits: "1",
  },
  dialed: {
    call_id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
    account_id: "ac_01JZQ4N1S4T7V2W5X8Y0ZABCDE",
    from_number: "+12025550199",
    to_number: "+12025550100",
    direction: "outbound",
    actions: announceable,
    dialed: { state: "completed", reason: "normal", duration: 35 },
  },
  actions,
};

const json = (name: string, examples: Readonly<Record<string, unknown>>): Json => ({
  "application/json": {
    schema: { $ref: `#/components/schemas/${name}` },
    examples: Object.fromEntries(Object.entries(examples).map(([key, value]) => [key, { value }])),
  },
});

/** A refused request: what it means, whether a call may have been placed, and an example of `detail`. */
interface Refusal {
  readonly description: string;
  readonly placed: "no" | "maybe";
  readonly detail?: string | readonly object[];
  readonly code?: string;
  readonly headers?: Json;
}

const absent =
  "The service does not have this path. Nothing was placed: send the same request to the other path.";

const retryAfter: Json = {
  "Retry-After": {
    description: "Seconds until the next request may succeed.",
    schema: { type: "integer", minimum: 0 },
  },
};

const missing = (place: string, name: string): object => ({
  loc: [place, name],
  msg: "Field required",
  type: "missing",
});

/** Every status that a service responds with besides 202. */
const refusals: Readonly<Record<number, Refusal>> = {
  400: {
    description: "The body is not JSON in UTF-8.",
    placed: "no",
    detail: "The body must be JSON in UTF-8.",
  },
  401: { description: "The key is not accepted.", placed: "no", detail: "Unauthorized" },
  403: {
    description: "The key is invalid or revoked, or `from_number` does not belong to the account.",
    placed: "no",
    detail: "Invalid API Key.",
  },
  404: { description: absent, placed: "no", detail: "Not Found" },
  405: {
    description: absent,
    placed: "no",
    detail: "Method Not Allowed",
    headers: { Allow: { description: "The methods that it has.", schema: { type: "string" } } },
  },
  409: {
    description:
      "With an `Idempotency-Key`: it has placed a call with another body (`code` `idempotency_conflict`), or the first request with it is still under way (`idempotency_in_progress`): send the same request again.",
    placed: "maybe",
    detail: "The Idempotency-Key has placed another call.",
    code: "idempotency_conflict",
  },
  410: { description: absent, placed: "no", detail: "Gone" },
  413: {
    description: "The body has more than 64 KiB.",
    placed: "no",
    detail: "The body must be at most 64 KiB.",
  },
  415: {
    description: "The body is not `application/json`.",
    placed: "no",
    detail: "Content-Type must be application/json.",
  },
  422: {
    description:
      "The header `X-API-Key` is absent, or fields are missing, unknown or break a rule.",
    placed: "no",
    detail: [missing("header", "x-api-key")],
  },
  429: {
    description: "Too many requests.",
    placed: "no",
    detail: "Too many requests.",
    headers: retryAfter,
  },
  500: {
    description: "The service failed. A call may have been placed.",
    placed: "maybe",
    detail: "Internal Server Error",
  },
  502: {
    description: "The telephone network failed. A call may have been placed.",
    placed: "maybe",
    detail: "Bad Gateway",
  },
  503: {
    description: "The service is not available. A call may have been placed.",
    placed: "maybe",
    detail: "Service Unavailable",
    headers: retryAfter,
  },
  504: {
    description: "The telephone network did not respond. A call may have been placed.",
    placed: "maybe",
    detail: "Gateway Timeout",
  },
};

const refusalResponse = ({ description, placed, detail = "", code, headers }: Refusal): Json => {
  const message = typeof detail === "string" ? detail : "header.x-api-key: Field required";
  return {
    description,
    "x-placed": placed,
    ...(headers && { headers }),
    content: json(typeof detail === "string" ? "Refusal" : "FieldRefusal", {
      refused: { detail, message, ...(code !== undefined && { code }) },
    }),
  };
};

const initiate = (operationId: string, summary: string): Json => ({
  post: {
    operationId,
    summary,
    description:
      "Places one call. Never send a request again when a call may have been placed (`x-placed: maybe`, or no response): a second request is a second call, unless the service keeps keys and both have the same `Idempotency-Key` and body.",
    tags: ["calls"],
    security: [{ apiKey: [] }],
    requestBody: { required: true, content: json("CallParams", { call: example.call }) },
    parameters: [
      {
        name: "Idempotency-Key",
        in: "header",
        required: false,
        description:
          "Only for a service that keeps keys. For 24 hours a request with the same key and body places nothing more: once a call was placed, each is answered with 202 and its id.",
        schema: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
        example: "2f1c9a52-6f0e-4d8e-9a1b-3a5d0c7e8f10",
      },
    ],
    responses: {
      202: {
        description: "The call is accepted: the service dials.",
        "x-placed": "yes",
        content: json("Accepted", { accepted: example.accepted }),
      },
      ...Object.fromEntries(
        Object.keys(refusals).map((status) => [
          status,
          { $ref: `#/components/responses/Refused${status}` },
        ]),
      ),
    },
  },
});

const header = (name: string, description: string, sample: string, schema: Json = {}): Json => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", ...schema },
  example: sample,
});

const outcome = (description: string): Json => ({ description });

const callId: Json = {
  name: "id",
  in: "path",
  required: true,
  description: "The id of the call.",
  schema: { type: "string" },
  example: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
};

/** What a service refuses of a call that was placed. Nothing is placed by any of these. */
const liveRefusals: Json = Object.fromEntries(
  ["403", "404", "405", "410", "422"].map((status) => [
    status,
    { $ref: `#/components/responses/Refused${status}` },
  ]),
);

const live = (operationId: string, end: string): Json => ({
  get: {
    operationId: `get${operationId}`,
    summary: `Read a call${end}`,
    description: "It may be repeated. 404 also stands for an unknown id.",
    tags: ["calls"],
    security: [{ apiKey: [] }],
    parameters: [callId],
    responses: {
      200: {
        description: "The call at this moment.",
        content: json("LiveCall", { completed: example.live }),
      },
      ...liveRefusals,
    },
  },
});

const hangUp = (operationId: string, end: string): Json => ({
  post: {
    operationId: `end${operationId}`,
    summary: `End a call${end}`,
    description: "Also one that rings. It may be repeated. 404 also stands for an unknown id.",
    tags: ["calls"],
    security: [{ apiKey: [] }],
    parameters: [callId],
    responses: {
      202: outcome("The call ends."),
      409: outcome("With the `code` `call_not_live`: the call has ended."),
      ...liveRefusals,
    },
  },
});

const pressKeys = (operationId: string, end: string): Json => ({
  post: {
    operationId: `press${operationId}`,
    summary: `Press keys in a call${end}`,
    description: "For the callee's side to hear, such as a menu, while the call is answered.",
    tags: ["calls"],
    security: [{ apiKey: [] }],
    parameters: [callId],
    requestBody: { required: true, content: json("PressedKeys", { keys: { digits: "2#" } }) },
    responses: {
      202: outcome("The keys are pressed."),
      409: outcome("With the `code` `call_not_live`: the call is not answered, or over."),
      ...liveRefusals,
    },
  },
});

const notification: Json = {
  post: {
    operationId: "receiveNotification",
    summary: "The service reports what happened to a call",
    description:
      "Sent to `status_callback_url`: in order for each call, and at least once. The service waits 10 seconds for a response, and follows no redirect. After any response but 2xx, 400, 401, 403, 404 and 410, and without a response, it sends the same body again: six requests in all, after about 1, 2, 4, 8 and 16 seconds, each varied by up to half.",
    tags: ["application"],
    security: [],
    parameters: [
      header("webhook-id", "The `id` of the notification.", "evt_01JZQ4N8B7C2D5F9G3H6J1KMNP"),
      header("webhook-timestamp", "When it was signed: seconds since 1970.", "1780308042", {
        pattern: "^\\d+$",
      }),
      header(
        "webhook-signature",
        "Standard Webhooks: `v1,` and the base64 of the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`. Several signatures are separated by spaces.",
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
        { pattern: "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$" },
      ),
    ],
    requestBody: {
      required: true,
      content: json("Notification", {
        completed: example.notification,
        older: example.older,
        other: example.other,
      }),
    },
    responses: {
      204: outcome("Received. Any other 2xx means the same."),
      400: outcome("Refused for good: not sent again."),
      401: outcome("Not verified: not sent again."),
      403: outcome("Not verified: not sent again."),
      404: outcome("No such address: not sent again."),
      410: outcome("No longer wanted: not sent again."),
      default: outcome("Not received: sent again."),
    },
  },
};

const flow: Json = {
  post: {
    operationId: "decideAction",
    summary: "The service requests the next action of an answered call",
    description:
      "Sent to the `flow_url` of the call once it is answered, and then to the `flow_url` of an action when that ends. The service waits 10 seconds, reads 64 KiB, and follows redirects on the same origin. Any other response ends the call with the reason `flow_error`. A call has at most 50 actions. A service that has more than `play`, `stream`, `dial` and `hangup` says so in each request, in `actions`.",
    tags: ["application"],
    security: [],
    requestBody: {
      required: true,
      content: json("FlowRequest", {
        ...{ answered: example.flow, pressed: example.pressed, dialed: example.dialed },
      }),
    },
    responses: {
      200: {
        description: "The next action. Fields that an action does not know are ignored.",
        content: json("Action", example.actions),
      },
      "4XX": outcome("The request is refused: the call ends with the reason `flow_error`."),
    },
  },
};

/** The HTTP interface as OpenAPI 3.1: both paths, and what the service sends to an application. */
export const openapi = (): Json => ({
  openapi: "3.1.0",
  info: openInfo(
    "Outbound voice calls",
    "Places outbound telephone calls. The service dials `to_number` from `from_number`, requests the actions of the call from `flow_url` once it is answered, and sends notifications to `status_callback_url`. The audio of a `stream` action is described in asyncapi.json. For people: docs/service.md.",
  ),
  servers: [
    { url: "/", description: "The service that serves this file, such as the emulator." },
    {
      url: "https://{host}",
      description: "A service. Its base URL may also have a path.",
      variables: { host: { default: "voice.example" } },
    },
  ],
  tags: [
    { name: "calls", description: "What the service receives." },
    { name: "application", description: "What the service sends to an application." },
  ],
  paths: {
    "/api/v1/calls/initiate": initiate("initiateCall", "Place a call"),
    "/api/v1/voice/calls/initiate": initiate(
      "initiateVoiceCall",
      "Place a call, at the path that some services have instead",
    ),
    "/api/v1/voice/calls/{id}": live("VoiceCall", ""),
    "/api/v1/calls/{id}": live("Call", ", at the path that some services have instead"),
    "/api/v1/voice/calls/{id}/hangup": hangUp("VoiceCall", ""),
    "/api/v1/calls/{id}/hangup": hangUp("Call", ", at the path that some services have instead"),
    "/api/v1/voice/calls/{id}/dtmf": pressKeys("VoiceCall", ""),
    "/api/v1/calls/{id}/dtmf": pressKeys("Call", ", at the path that some services have instead"),
  },
  webhooks: { notification, flow },
  components: {
    securitySchemes: {
      apiKey: {
        type: "apiKey",
        in: "header",
        name: "X-API-Key",
        description: "The key of the account.",
      },
    },
    responses: Object.fromEntries(
      Object.entries(refusals).map(([status, refusal]) => [
        `Refused${status}`,
        refusalResponse(refusal),
      ]),
    ),
    schemas: httpSchemas(),
  },
});

const streamId = "st_01JZQ4NAD9E4F7G1H5J8K3MNPQ";

/** The messages of a media socket: who sends it, and an example. */
const messages: Readonly<
  Record<
    string,
    { from: "service" | "application"; schema: string; summary: string; payload: Json }
  >
> = {
  start: {
    from: "service",
    schema: "Start",
    summary:
      "The first message: which call it is, and how its audio is encoded. `call_id` may differ from the id of the call. `messages` names the types that the service sends beside `start` and `audio`; one without the field sends no other.",
    payload: {
      type: "start",
      account_id: "ac_01JZQ4N1S4T7V2W5X8Y0ZABCDE",
      call_id: "cs_01JZQ4N7Y0M3T8V6W2X5A9BCDE",
      stream_id: streamId,
      message_id: 1,
      data: { encoding: "audio/l16", sample_rate: 8000, channels: 1 },
      messages: ["played"],
    },
  },
  serviceAudio: {
    from: "service",
    schema: "ServiceAudio",
    summary: "The callee's audio: `chunk_size` milliseconds of samples.",
    payload: {
      type: "audio",
      stream_id: streamId,
      message_id: 2,
      data: { audio_b64: "AAABAAIAAwA=" },
    },
  },
  played: {
    from: "service",
    schema: "Played",
    summary:
      "From a service that names it in `start`, once it was requested: so many milliseconds of all the application's audio in this stream were played to the callee, or dropped. Sent when the audio of a message begins or ends, when it continues after a stall has delayed it, and when audio is dropped.",
    payload: {
      type: "played",
      stream_id: streamId,
      message_id: 3,
      data: { ms: 1240 },
    },
  },
  applicationAudio: {
    from: "application",
    schema: "ApplicationAudio",
    summary: "Audio for the callee, played after what is queued.",
    payload: { type: "audio", audio_b64: "AAABAAIAAwA=", chunk_id: "greeting-1" },
  },
  nestedApplicationAudio: {
    from: "application",
    schema: "NestedApplicationAudio",
    summary: "The same, in the form that some documents show.",
    payload: { type: "audio", data: { audio_b64: "AAABAAIAAwA=", chunk_id: "greeting-1" } },
  },
  interrupt: {
    from: "application",
    schema: "Interrupt",
    summary: "Stops the audio with this id, if it is queued or playing.",
    payload: { type: "interrupt", chunk_id: "greeting-1" },
  },
  clear: {
    from: "application",
    schema: "Clear",
    summary: "Discards all audio that is queued.",
    payload: { type: "clear" },
  },
  playedRequest: {
    from: "application",
    schema: "PlayedRequest",
    summary: "Requests `played`, from a service that names it in `start`.",
    payload: { type: "played" },
  },
};

const namesFrom = (from: "service" | "application"): readonly string[] =>
  Object.keys(messages).filter((name) => messages[name]?.from === from);

const operation = (
  action: "send" | "receive",
  from: "service" | "application",
  summary: string,
) => ({
  action,
  channel: { $ref: "#/channels/media" },
  summary,
  messages: namesFrom(from).map((name) => ({ $ref: `#/channels/media/messages/${name}` })),
});

/** The media socket as AsyncAPI 3.0, from the point of view of the application. */
export const asyncapi = (): Json => ({
  asyncapi: "3.0.0",
  info: info(
    "Media socket",
    "The audio of a call, in both directions: the service connects to the `ws_url` of a `stream` action (openapi.json) and exchanges text messages in JSON. Audio is mono, 16-bit little-endian PCM. Either side ends the stream by closing the socket. A message of a type that is not listed here is ignored. For people: docs/service.md.",
  ),
  defaultContentType: "application/json",
  channels: {
    media: {
      address: null,
      title: "Media socket",
      description: "The `ws_url` of the action. The service is the WebSocket client.",
      messages: Object.fromEntries(
        Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
      ),
      bindings: { ws: { method: "GET", bindingVersion: "0.1.0" } },
    },
  },
  operations: {
    receiveFromService: operation(
      "receive",
      "service",
      "The beginning of the stream, and the callee's audio.",
    ),
    sendToService: operation("send", "application", "Audio for the callee, and what stops it."),
  },
  components: {
    messages: Object.fromEntries(
      Object.entries(messages).map(([name, { schema, summary, payload }]) => [
        name,
        {
          name,
          summary,
          payload: { $ref: `#/components/schemas/${schema}` },
          examples: [{ payload }],
        },
      ]),
    ),
    schemas: mediaSchemas(),
  },
});

/** The two files, by their paths in the repository. */
export const documents = (): Readonly<Record<string, string>> => ({
  "docs/openapi.json": `${JSON.stringify(openapi(), null, 2)}\n`,
  "docs/asyncapi.json": `${JSON.stringify(asyncapi(), null, 2)}\n`,
});
