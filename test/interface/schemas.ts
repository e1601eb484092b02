import { type JsonSchema, toJsonSchemaDefs } from "@valibot/to-json-schema";
import { custom, type GenericSchema } from "valibot";
import type { CallEvent, EventData } from "../../src/callbacks/event.ts";
import { Call } from "../../src/calls/call.ts";
import { FromApplication, FromService } from "../../src/flows/media/messages.ts";
import { FlowRequest } from "../../src/flows/request.ts";
import { type ActionName, announceable, WireAction, wireActions } from "../../src/flows/wire.ts";
import { atUrl, withFlow as CallWithFlow } from "../../src/server/outdial/request.ts";

export type { JsonSchema };

/** Schemas by their names, which refer to each other. */
export type Schemas = Readonly<Record<string, JsonSchema>>;

const refTo = (name: string): string => `#/components/schemas/${name}`;

/** An authority, and what may follow it: no user and password, no white space and no backslash. */
const afterAuthority = "([/?#][^\\s\\\\]*)?$";

const urlSchema = (scheme: "http" | "ws"): JsonSchema => {
  const loopback = "(([^/?#@:\\s\\\\]+\\.)?localhost|127(\\.\\d{1,3}){3}|\\[::1\\])(:\\d*)?";
  return {
    type: "string",
    pattern: `^(${scheme}s://[^/?#@\\s\\\\]+|${scheme}://${loopback})${afterAuthority}`,
    maxLength: 2083,
    description: `An absolute ${scheme}s URL without user and password. Plain ${scheme} is for loopback: only a service that is itself on loopback accepts it.`,
  };
};

/** Schemas of single values that several objects use. */
const values = {
  PhoneNumber: {
    type: "string",
    pattern: "^\\+[1-9]\\d{6,14}$",
    description: 'A telephone number in E.164: "+" and 7 to 15 digits.',
    examples: ["+12025550100"],
  },
  HttpUrl: { ...urlSchema("http"), examples: ["https://app.example/flow"] },
  WebSocketUrl: { ...urlSchema("ws"), examples: ["wss://app.example/media"] },
} satisfies Schemas;

const audio: JsonSchema = {
  type: "string",
  pattern: "^[A-Za-z0-9+/]*={0,2}$",
  maxLength: 1_048_576,
  description: "16-bit little-endian PCM samples in base64.",
};

const text: JsonSchema = { type: "string" };

/** The name of an action's schema. */
const titled = (action: string): string => action.slice(0, 1).toUpperCase() + action.slice(1);

const oneOf = (...names: readonly string[]): JsonSchema => ({
  oneOf: names.map((name) => ({ $ref: refTo(name) })),
});

/** Milliseconds of whole seconds. */
const wholeSeconds = (maximum: number, minimum = 1000): JsonSchema => ({
  ...{ type: "integer", minimum, maximum, multipleOf: 1000 },
});

const phoneNumber: JsonSchema = { $ref: refTo("PhoneNumber") };
const httpUrl: JsonSchema = { $ref: refTo("HttpUrl") };
const flag: JsonSchema = { type: "boolean" };
const count: JsonSchema = { type: "integer", minimum: 0 };

/**
 * What a valibot `custom` schema, or one that selects another by `action`, means in JSON Schema, by the name of the first field that has it, or of the definition.
 * `schemas.test.ts` compares every field with its row.
 */
const meanings: Readonly<Record<string, JsonSchema>> = {
  Call: {
    type: "object",
    properties: { id: { type: "string", minLength: 1 } },
    required: ["id"],
  },
  Action: oneOf(...Object.keys(wireActions).map(titled)),
  on_no_answer: oneOf("Play", "Hangup"),
  from_number: phoneNumber,
  flow_url: httpUrl,
  media_url: httpUrl,
  ws_url: { $ref: refTo("WebSocketUrl") },
  record: flag,
  "Stream.sample_rate": { enum: ["8k", "16k"] },
  chunk_size: { type: "integer", minimum: 20, maximum: 2000, multipleOf: 20 },
  to: {
    anyOf: [
      phoneNumber,
      {
        type: "string",
        pattern: '^[Ss][Ii][Pp]:[^\\s<>"@]+(@[^\\s<>"@]+)?$',
        maxLength: 2083,
        examples: ["sip:desk@pbx.example"],
      },
    ],
  },
  timeout: { type: "integer", minimum: 1, maximum: 600 },
  text: {
    type: "string",
    minLength: 1,
    maxLength: 1500,
    pattern: "^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]*$",
    not: { pattern: "^\\s*$" },
  },
  pause_ms: wholeSeconds(180_000),
  language: {
    type: "string",
    pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$",
    examples: ["en-GB"],
  },
  "Gather.digits": { type: "integer", minimum: 1, maximum: 20 },
  actions: { type: "array", items: text },
  finish_on_key: { const: "#" },
  timeout_ms: wholeSeconds(10_000),
  max_length_ms: wholeSeconds(3_600_000, 3_000),
  silence_ms: wholeSeconds(10_000, 3_000),
  as: { type: "string", pattern: "^[a-z]\\w{0,31}$" },
  call_id: text,
  account_id: text,
  stream_id: text,
  message_id: count,
  encoding: { const: "audio/l16" },
  sample_rate: { enum: [8000, 16_000] },
  channels: { const: 1 },
  audio_b64: audio,
  chunk_id: { anyOf: [{ type: "string", maxLength: 128 }, { type: "number" }] },
  ms: { type: "number", minimum: 0 },
};

/** Descriptions and defaults of fields, by schema and field. */
const notes: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> = {
  CallParams: {
    from_number: { description: "The calling number, which belongs to the account." },
    to_number: { description: "The called number." },
    flow_url: {
      description: "Where the service requests the first action, once the call is answered.",
    },
    status_callback_url: { description: "Where the service sends the notifications of the call." },
    record: { description: "Whether the call is recorded.", default: true },
  },
  CallWithFlow: {
    flow: {
      description:
        "The first action, in the place of `flow_url`. A service may not take it: then it requires `flow_url`.",
    },
  },
  Play: {
    media_url: { description: "The audio file." },
    flow_url: {
      description: "Where the service requests the next action. Without it the call ends.",
    },
  },
  Stream: {
    ws_url: { description: "The WebSocket to connect to: see asyncapi.json." },
    sample_rate: { description: "Samples per second.", default: "8k" },
    chunk_size: { description: "Milliseconds of audio in one message.", default: 400 },
    record: { description: "Whether this part of the call is recorded.", default: true },
    flow_url: {
      description: "Where the service requests the next action. Without it the call ends.",
    },
  },
  Dial: {
    to: { description: "Who is called: a telephone number or a `sip:` URI." },
    timeout: { description: "Seconds of ringing.", default: 30 },
    record: { description: "Whether the conversation is recorded.", default: false },
    flow_url: {
      description: "Where the service requests the next action. Without it the call ends.",
    },
    on_no_answer: { description: "The next action if nobody answers." },
    on_busy: { description: "The next action if the line is busy." },
    on_failure: { description: "The next action if the connection can't be made." },
  },
  Say: {
    prompts: { description: "What is spoken and played, in order." },
    language: { description: "The language of the texts." },
    flow_url: {
      description: "Where the service requests the next action. Without it the call ends.",
    },
  },
  Gather: {
    prompts: { description: "What is spoken and played, in order. A key interrupts it." },
    language: { description: "The language of the texts." },
    digits: {
      description:
        "After how many keys the answer is complete: 20 at the most. This or `finish_on_key` is required.",
    },
    finish_on_key: {
      description: "The key that completes the answer, and is not part of it.",
    },
    timeout_ms: {
      description:
        "Milliseconds without a key until the answer is complete, from the end of the prompts and between keys.",
      default: 5000,
    },
    flow_url: {
      description: "Where the service requests the next action, with the keys in `digits`.",
    },
  },
  Record: {
    prompts: { description: "What is spoken and played before the beep, in order." },
    language: { description: "The language of the texts." },
    max_length_ms: {
      description: "Milliseconds after which the recording ends.",
      default: 60_000,
    },
    finish_on_key: { description: "The key that ends the recording. Without it no key does." },
    silence_ms: {
      description: "Milliseconds of silence that end the recording. Without it none does.",
    },
    as: { description: "A name, which the notification `recording.completed` has too." },
    flow_url: {
      description: "Where the service requests the next action. Without it the call ends.",
    },
  },
  FlowRequest: {
    call_id: { description: "The id of the call." },
    account_id: { description: "The account of the call." },
    from_number: { description: "The calling number." },
    to_number: { description: "The called number." },
    direction: { description: "`outbound`.", examples: ["outbound"] },
    actions: {
      description:
        "The actions that the service has, and `dialed` if its requests say what came of a `dial`. Without it these are `play`, `stream`, `dial` and `hangup`.",
      examples: [[...announceable]],
    },
    digits: {
      description: "After a `gather`: the keys that were pressed, or an empty text.",
      examples: ["1"],
    },
    dialed: {
      description:
        "After a `dial`, if the service announces `dialed`: what came of it. `state` is `completed` or `failed`; `duration` is in seconds, and absent if nobody answered.",
      examples: [{ state: "failed", reason: "busy" }],
    },
  },
};

/** Of each action: a new one doesn't compile until it is here. */
const actionTitles: Readonly<Record<Capitalize<ActionName>, string>> = {
  Play: "Plays an audio file to the callee.",
  Stream: "Connects the audio of the call to a WebSocket.",
  Dial: "Calls another number, and connects the two.",
  Hangup: "Ends the call.",
  Say: "Speaks texts, plays audio and pauses. Only for a service that announces it.",
  Gather: "Speaks, and takes keys. Only for a service that announces it.",
  Record:
    "Speaks, and records what the callee says, after a beep. Only for a service that announces it.",
};

const titles: Readonly<Record<string, string>> = {
  ...actionTitles,
  CallParams: "The request for a call. Unknown fields are refused.",
  Action: "The response of a flow URL: what the service does next.",
  FlowRequest: "The request of the service at a flow URL. It may have more fields.",
};

/** A valibot `custom` schema, where it is, and what it means in JSON Schema. */
export interface Meaning {
  /** Such as `CallParams.from_number`. */
  readonly place: string;
  readonly schema: GenericSchema;
  readonly meaning: JsonSchema;
}

/** The row of `meanings` for a place: its own, or that of the field's name. */
const keyOf = (place: string): string => {
  const name = place.slice(place.lastIndexOf(".") + 1);
  const key = [place, name].find((each) => Object.hasOwn(meanings, each));
  if (key) return key;
  throw new TypeError(`test/interface/schemas.ts: what does ${place} mean? Add it to \`meanings\``);
};

const isSchema = (value: unknown): value is GenericSchema =>
  typeof value === "object" && value !== null && "~run" in value;

/** Selecting schemas by the `custom` ones that stand for them: a converter would look into them with no value. */
const selecting = new Map<GenericSchema, GenericSchema>();

/** A schema without those in it that select another by `action`. */
const withStandIns = (schema: GenericSchema): GenericSchema => {
  if (schema.type === "lazy") {
    const [known] = [...selecting].find(([, one]) => one === schema) ?? [];
    const standIn = known ?? custom(() => true);
    selecting.set(standIn, schema);
    return standIn;
  }
  const { wrapped, entries }: Record<string, unknown> = { ...schema };
  if (isSchema(wrapped)) {
    const inner = withStandIns(wrapped);
    return inner === wrapped ? schema : { ...schema, ...{ wrapped: inner } };
  }
  const fields = Object.entries(Object(entries)).map(([name, one]) => {
    return [name, isSchema(one) ? withStandIns(one) : one] as const;
  });
  const isSame = fields.every(([name, one]) => Object(entries)[name] === one);
  return isSame ? schema : { ...schema, ...{ entries: Object.fromEntries(fields) } };
};

/** The schemas directly in a schema, each with what it adds to the place. */
const innerSchemas = (schema: GenericSchema): readonly (readonly [string, GenericSchema])[] => {
  const { wrapped, item, pipe, options, entries = {} }: Record<string, unknown> = { ...schema };
  const inner: readonly (readonly [string, unknown])[] = [
    ["", wrapped],
    ["", item],
    ...[pipe, options]
      .flatMap((list) => (Array.isArray(list) ? list : []))
      .map((one) => ["", one] as const),
    ...Object.entries(Object(entries)).map(([name, entry]) => [`.${name}`, entry] as const),
  ];
  return inner.flatMap(([place, one]) =>
    isSchema(one) && one !== schema ? [[place, one] as const] : [],
  );
};

/** The place of each `custom` schema: in the definition that it belongs to, not in those that refer to it. */
const placesIn = (
  definitions: Readonly<Record<string, GenericSchema>>,
): ReadonlyMap<unknown, string> => {
  const places = new Map<unknown, string>();
  const named = new Set(Object.values(definitions));
  const visit = (schema: GenericSchema, place: string): void => {
    if (schema.type === "custom" && !places.has(schema)) places.set(schema, place);
    for (const [more, inner] of innerSchemas(schema)) {
      if (!named.has(inner)) visit(inner, place + more);
    }
  };
  for (const [name, schema] of Object.entries(definitions)) visit(schema, name);
  return places;
};

/** By place: a schema that is made for each message is another object each time. */
const met = new Map<string, Meaning>();

/** Every `custom` schema in what the files contain. */
export const customMeanings = (): readonly Meaning[] => {
  httpSchemas();
  mediaSchemas();
  const used = new Set([...met.keys()].map(keyOf));
  const unused = Object.keys(meanings).filter((key) => !used.has(key));
  if (unused.length > 0) throw new TypeError(`test/interface/schemas.ts: no schema is ${unused}`);
  return [...met.values()];
};

/** Valibot schemas as JSON Schema, one for each name. */
const converted = (given: Readonly<Record<string, GenericSchema>>): Schemas => {
  const definitions = Object.fromEntries(
    Object.entries(given).map(([name, schema]) => [name, withStandIns(schema)]),
  );
  const places = placesIn(definitions);
  const schemas = toJsonSchemaDefs(definitions, {
    typeMode: "input",
    target: "draft-2020-12",
    overrideRef: ({ referenceId }) => refTo(referenceId),
    overrideSchema: ({ valibotSchema }) => {
      if (valibotSchema.type !== "custom") return;
      const place = places.get(valibotSchema) ?? "a schema";
      const schema =
        selecting.get(valibotSchema as GenericSchema) ?? (valibotSchema as GenericSchema);
      const meaning = meanings[keyOf(place)];
      if (meaning) met.set(place, { place, schema, meaning });
      return meaning;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      {
        ...(titles[name] && { description: titles[name] }),
        ...schema,
        ...(schema.properties && {
          properties: Object.fromEntries(
            Object.entries(schema.properties).map(([field, value]) => [
              field,
              { ...(typeof value === "object" && value), ...notes[name]?.[field] },
            ]),
          ),
        }),
      },
    ]),
  );
};

/** The schema of one type of message, out of a schema that selects it by the message. */
const selected = (schema: GenericSchema, message: object): GenericSchema => {
  const [lazy] = "pipe" in schema && Array.isArray(schema.pipe) ? schema.pipe : [];
  return lazy.getter(message);
};

/** The variants of an application's message, which are flattened before. */
const variants = (schema: GenericSchema): readonly GenericSchema[] => {
  const steps = "pipe" in schema && Array.isArray(schema.pipe) ? schema.pipe : [];
  return steps.at(-1).options;
};

/** The notifications of the interface, which detects no machines. */
type NotificationType = Exclude<CallEvent["type"], "call.machine_detected">;

/** The fields that only carriers have. */
type CarrierField = "beep" | "cost" | "currency";

/** The fields of `data` that each notification has besides the numbers: the required ones, and the others. */
type DataFields = {
  readonly [Type in NotificationType]: {
    readonly required: readonly Exclude<
      keyof Extract<CallEvent, { type: Type }>["data"],
      "from" | "to" | CarrierField
    >[];
    readonly optional?: readonly Exclude<
      keyof Extract<CallEvent, { type: Type }>["data"],
      "from" | "to" | CarrierField
    >[];
    readonly reasons?: readonly string[];
  };
};

const dataFields: DataFields = {
  "call.initiated": { required: ["start_time"] },
  "call.ringing": { required: [] },
  "call.answered": { required: ["answer_time"], optional: ["answered_by"] },
  "call.completed": {
    required: ["duration", "hangup_time", "reason"],
    optional: ["recording_url", "answered_by"],
    reasons: ["normal", "flow_error", "max_duration", "lost"],
  },
  "call.failed": {
    required: ["reason", "hangup_time"],
    reasons: ["busy", "no_answer", "rejected", "unreachable", "canceled", "lost"],
  },
};

const time = (description: string): JsonSchema => ({
  type: "string",
  format: "date-time",
  description: `${description}: ISO 8601, UTC.`,
});

const eventData: Readonly<Record<Exclude<keyof EventData, CarrierField>, JsonSchema>> = {
  from: { type: "string", description: "The calling number, in E.164." },
  to: { type: "string", description: "The called number, in E.164." },
  start_time: time("When the service began to dial"),
  answer_time: time("When the call was answered"),
  hangup_time: time("When the call ended"),
  duration: { type: "integer", minimum: 0, description: "Whole seconds since the answer." },
  reason: { type: "string", description: "Why the call ended, or was not answered." },
  recording_url: { type: "string", description: "Where the recording is, if there is one." },
  answered_by: {
    type: "string",
    description: "Who answered, if the service detects machines.",
    examples: ["human", "machine_start"],
  },
};

const notificationName = (type: string): string =>
  type.replace(/(^|\.)(\w)/g, (_, __, letter: string) => letter.toUpperCase());

/** The data of a notification. */
const dataSchema = (type: NotificationType): JsonSchema => {
  const { required, optional = [], reasons } = dataFields[type];
  const fields = ["from", "to", ...required, ...optional] as const;
  return {
    type: "object",
    properties: {
      call_id: { type: "string", minLength: 1 },
      ...Object.fromEntries(fields.map((name) => [name, eventData[name]])),
      ...(reasons && { reason: { ...eventData.reason, enum: [...reasons] } }),
      ...(type === "call.completed" && {
        flow_error: { type: "string", description: "With the reason `flow_error`: what failed." },
      }),
    },
    required: ["call_id", "from", "to", ...required],
  };
};

const notificationSchema = (type: NotificationType): JsonSchema => ({
  type: "object",
  properties: {
    id: { type: "string", minLength: 1, description: "The same on every delivery of one event." },
    type: { const: type },
    api_version: {
      type: "string",
      description: "The form of the notification.",
      examples: ["2026-06-01"],
    },
    occurred_at: time("When it happened"),
    account_id: { type: "string", description: "The account of the call." },
    call_id: { type: "string", minLength: 1, description: "The id of the call." },
    data: dataSchema(type),
  },
  required: ["id", "type", "api_version", "occurred_at", "account_id", "call_id", "data"],
});

const knownTypes = Object.keys(dataFields) as NotificationType[];

/** What `CallEvent` accepts, as a service sends it. */
const notifications = (): Schemas => ({
  Notification: {
    description:
      "A status notification in the current form, in the older form, or of another type. A receiver responds with 2xx to each.",
    anyOf: [...knownTypes.map(notificationName), "OlderNotification", "OtherNotification"].map(
      (name) => ({ $ref: refTo(name) }),
    ),
  },
  ...Object.fromEntries(
    knownTypes.map((type) => [notificationName(type), notificationSchema(type)]),
  ),
  OlderNotification: {
    description:
      "The older form: `event` instead of `type`, and the id of the call only in `data`.",
    type: "object",
    properties: {
      event: { enum: knownTypes },
      account_id: { type: "string" },
      call_app_id: { type: "string", description: "The application of the account." },
      data: {
        type: "object",
        properties: { call_id: { type: "string", minLength: 1 }, ...eventData },
        required: ["call_id"],
      },
    },
    required: ["event", "data"],
  },
  OtherNotification: {
    description:
      "Another type, such as `stream.started`, `recording.completed` or `leg.answered`. It may be about no single call.",
    type: "object",
    properties: {
      id: { type: "string", minLength: 1 },
      type: { type: "string", minLength: 1, not: { enum: knownTypes } },
      api_version: { type: "string" },
      occurred_at: { type: "string", format: "date-time" },
      account_id: { type: "string" },
      call_id: { anyOf: [text, { type: "null" }] },
      data: { anyOf: [{ type: "object" }, { type: "null" }] },
    },
    required: ["type"],
  },
});

const fieldError: JsonSchema = {
  description: "One error of one field.",
  type: "object",
  properties: {
    loc: {
      description: "Where: `body` or `header`, and the name.",
      type: "array",
      items: text,
      minItems: 1,
    },
    msg: { type: "string", description: "The rule, in words." },
    type: {
      type: "string",
      description: "A constant: `missing`, `extra_forbidden`, `value_error`.",
    },
  },
  required: ["loc", "msg", "type"],
};

/** What the response to a request has besides `Call`: the fields of the request. */
const answers = (params: JsonSchema, call: JsonSchema): Schemas => {
  const { from_number, to_number, status_callback_url, record } = params.properties ?? {};
  return {
    Accepted: {
      description: "The call is accepted: the service dials.",
      type: "object",
      properties: {
        message: text,
        data: {
          description: "The call. It may have more fields.",
          type: "object",
          properties: {
            ...call.properties,
            from_number,
            to_number,
            status_callback_url,
            record,
          } as NonNullable<JsonSchema["properties"]>,
          required: ["id", "from_number", "to_number", "status_callback_url", "record"],
        },
      },
      required: ["message", "data"],
    },
    PressedKeys: {
      description: "Keys to press in an answered call.",
      type: "object",
      properties: { digits: { type: "string", pattern: "^[\\d*#]{1,32}$" } },
      required: ["digits"],
    },
    LiveCall: {
      description: "A call that was placed, at this moment.",
      type: "object",
      properties: {
        id: { type: "string", minLength: 1 },
        state: { enum: ["initiated", "ringing", "answered", "completed", "failed"] },
        from_number: phoneNumber,
        to_number: phoneNumber,
        created_at: { type: "string", format: "date-time" },
        answered_at: { type: "string", format: "date-time" },
        ended_at: { type: "string", format: "date-time" },
        reason: { type: "string", description: "Why it is over." },
        flow_error: { type: "string", description: "With the reason `flow_error`: what failed." },
        legs: {
          type: "array",
          items: {
            type: "object",
            properties: {
              recordings: {
                type: "array",
                items: { type: "object", properties: { url: { type: "string", format: "uri" } } },
              },
            },
          },
        },
      },
      required: ["id", "state", "from_number", "to_number"],
    },
    Refusal: {
      description:
        "The request is refused. `message` repeats `detail`, for clients that read that.",
      type: "object",
      properties: {
        detail: text,
        message: text,
        code: { type: "string", description: "A constant of the service, for programs." },
        type: { type: "string", description: "A constant of the service, for programs." },
      },
      required: ["detail"],
    },
    FieldRefusal: {
      description: "Fields are missing, unknown or break a rule.",
      type: "object",
      properties: {
        detail: { type: "array", items: { $ref: refTo("FieldError") }, minItems: 1 },
        message: text,
      },
      required: ["detail"],
    },
    FieldError: fieldError,
  };
};

/** The schemas of what goes over HTTP. */
export const httpSchemas = (): Schemas => {
  const {
    CallParams: params = {},
    CallWithFlow: withFlow = {},
    Call: call = {},
    ...others
  } = converted({
    CallParams: atUrl,
    CallWithFlow,
    Call,
    FlowRequest,
    Action: WireAction,
    ...Object.fromEntries(Object.entries(wireActions).map(([name, one]) => [titled(name), one])),
  });
  const CallParams = eitherOf(params, withFlow);
  return { CallParams, ...answers(CallParams, call), ...notifications(), ...others, ...values };
};

/** A call with `flow_url` or `flow`, out of the schemas of both. */
const eitherOf = (
  { required: _, ...params }: JsonSchema,
  { properties: { flow = {} } = {}, required: both = [] }: JsonSchema,
): JsonSchema => {
  const { from_number = {}, to_number = {}, flow_url = {}, ...others } = params.properties ?? {};
  return {
    ...params,
    properties: { from_number, to_number, flow_url, flow, ...others },
    required: both.filter((name) => name !== "flow"),
    oneOf: [{ required: ["flow_url"] }, { required: ["flow"] }],
  };
};

/** The schemas of the messages on a media socket. */
export const mediaSchemas = (): Schemas => {
  const [speech, interrupt, clear, request] = variants(FromApplication);
  if (!speech || !interrupt || !clear || !request) {
    throw new TypeError("FromApplication has four variants");
  }
  const typed = (type: string, { properties, ...schema }: JsonSchema = {}): JsonSchema => ({
    ...schema,
    properties: { type: { const: type }, ...properties },
    required: ["type", ...(schema.required ?? [])],
  });
  const { start, heard, played, flat, ...others } = converted({
    start: selected(FromService, { type: "start" }),
    heard: selected(FromService, { type: "audio" }),
    played: selected(FromService, { type: "played" }),
    flat: speech,
    Interrupt: interrupt,
    Clear: clear,
    PlayedRequest: request,
  });
  const { type: _, ...fields } = flat?.properties ?? {};
  return {
    Start: typed("start", start),
    ServiceAudio: typed("audio", heard),
    Played: typed("played", played),
    ApplicationAudio: flat ?? {},
    NestedApplicationAudio: {
      type: "object",
      properties: {
        type: { const: "audio" },
        data: { type: "object", properties: fields, required: ["audio_b64"] },
      },
      required: ["type", "data"],
    },
    ...others,
  };
};
