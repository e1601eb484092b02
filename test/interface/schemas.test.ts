import fc from "fast-check";
import { type GenericSchema, is, safeParse, union } from "valibot";
import { describe, expect, test } from "vitest";
import { CallEvent } from "../../src/callbacks/event.ts";
import { FromApplication, FromService } from "../../src/flows/media/messages.ts";
import { FlowRequest } from "../../src/flows/request.ts";
import { WireAction } from "../../src/flows/wire.ts";
import { atUrl, withFlow } from "../../src/server/outdial/request.ts";
import { customMeanings, httpSchemas, type JsonSchema, mediaSchemas } from "./schemas.ts";
import { isValid, valuesNear, valuesOf } from "./values.ts";

const schemas = httpSchemas();

/** The same values in every run of `npm test`; `npm run interface` takes others, and more. */
const runs = process.env.INTERFACE_RUNS
  ? { numRuns: Number(process.env.INTERFACE_RUNS) }
  : { numRuns: 400, seed: 19 };
const media = mediaSchemas();

/** All texts in a value. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** Whether a URL is spelled as a parser prints it: the scheme, and a host on loopback. */
const isCanonical = (text: string): boolean => {
  const { protocol, hostname } = new URL(text);
  const [, authority = ""] = /^\w+:\/\/([^/?#]*)/.exec(text) ?? [];
  if (!text.startsWith(`${protocol}//`)) return false;
  return /^(https|wss):$/.test(protocol) || authority.replace(/:\d*$/, "") === hostname;
};

/**
 * The three things that a pattern cannot say of a URL: whether a parser accepts its host and port, how many UTF-16
 * units it has, and that its scheme or its loopback address may be spelled in another way (`HTTPS:`, `127.1`).
 */
const isBeyondPatterns = (text: string): boolean => {
  if (!/^\w+:\/\//.test(text)) return false;
  return !URL.canParse(text) || text.length > 2083 || !isCanonical(text);
};

/** Asserts that a rule and a schema accept the same values, apart from URLs that no pattern describes. */
const expectSame = (rule: GenericSchema, schema: JsonSchema, all = schemas): void => {
  let accepted = 0;
  fc.assert(
    fc.property(valuesNear(schema, all), (value) => {
      const isAccepted = is(rule, value);
      if (isAccepted) accepted++;
      if (isAccepted === isValid(schema, value)) return;
      expect(textsIn(value).filter(isBeyondPatterns), JSON.stringify(value)).not.toEqual([]);
    }),
    runs,
  );
  expect(accepted, "accepted values").toBeGreaterThan(20);
};

describe("a custom rule accepts what its JSON Schema says", () => {
  test.each(customMeanings())("$place", ({ schema, meaning }) => expectSame(schema, meaning));
});

describe("a schema of the package accepts what its JSON Schema says", () => {
  test.each([
    ["CallParams", union([atUrl, withFlow])],
    ["Action", WireAction],
    ["FlowRequest", FlowRequest],
  ] as const)("%s", (name, schema) => expectSame(schema, schemas[name] ?? {}));

  test("FromService", () => {
    const { Start = {}, ServiceAudio = {} } = media;
    expectSame(FromService, { anyOf: [Start, ServiceAudio] }, media);
  });

  test("FromApplication, unless a message has its audio in both places", () => {
    const { ApplicationAudio: flat = {}, NestedApplicationAudio: nested = {}, ...others } = media;
    const { Interrupt = {}, Clear = {} } = others;
    const once: JsonSchema = {
      ...flat,
      not: { properties: { data: { type: "object" } }, required: ["data"] },
    };
    for (const schema of [once, nested, Interrupt, Clear]) {
      fc.assert(
        fc.property(valuesNear(schema, media), (value) => {
          const isEither = [once, nested, Interrupt, Clear].some((one) => isValid(one, value));
          const fields = Object(value);
          if (fields.type === "audio" && "audio_b64" in fields && "data" in fields) return;
          expect(is(FromApplication, value), JSON.stringify(value)).toBe(isEither);
        }),
        runs,
      );
    }
  });
});

describe("a notification as the file describes it", () => {
  const { Notification: any = {} } = schemas;

  test("is an event, and every field that the event knows is as it was sent", () => {
    fc.assert(
      fc.property(valuesOf(any, schemas), (value) => {
        const { success, output } = safeParse(CallEvent, value);
        expect(success).toBe(true);
        const { event, type = event, data, call_id, call_app_id: _, ...others } = Object(value);
        const isOther = isValid(schemas.OtherNotification ?? {}, value);
        expect(output).toMatchObject({ ...others, type, known: !isOther });
        if (!isOther) expect(output).toMatchObject({ call_id: call_id ?? data.call_id, data });
      }),
      runs,
    );
  });

  test("what is no event is none by the file", () => {
    fc.assert(
      fc.property(valuesNear(any, schemas), (value) => {
        if (!is(CallEvent, value)) expect(isValid(any, value)).toBe(false);
      }),
      runs,
    );
  });
});
