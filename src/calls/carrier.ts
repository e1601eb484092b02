import { custom, type GenericSchema, optional, strictObject } from "valibot";
import type { EncodedCall } from "../http/post.ts";
import { type Head, headOf, readText } from "../http/response.ts";
import { fieldsOf, presence, withoutThrowing } from "../lib/check.ts";
import type { CallService } from "../options.ts";
import { type ApiKey, entries, isHeaders, type Settings } from "../options.ts";

/** What the options of a call are with a carrier. */
export interface CarrierRules {
  /** The rule of `apiKey`. */
  readonly apiKey: GenericSchema<unknown, ApiKey>;
  /** The default of `baseUrl`. */
  readonly baseUrl: string;
}

const absent = optional(custom<undefined>(() => false, "must be left out with a service"));

/** The schema of the options of a call with a carrier: outdial's own, with the carrier's key, URL and header. */
export const carrierSettings = ({
  apiKey,
  baseUrl,
}: CarrierRules): GenericSchema<unknown, Settings> =>
  strictObject(
    {
      ...entries,
      apiKey,
      baseUrl: optional(entries.baseUrl, baseUrl),
      path: absent,
      idempotent: absent,
      idempotencyKey: absent,
      headers: optional(
        custom<Settings["headers"]>(
          (value) =>
            isHeaders(value) &&
            !Object.keys(fieldsOf(value)).some((name) => /^authorization$/i.test(name)),
          "must be legal and not Authorization, nor one of the body or the connection",
        ),
        {},
      ),
      service: custom<CallService>(() => true),
    },
    presence,
  );

/** How a carrier's responses are read. */
export interface CarrierResponses {
  /**
   * The statuses by which the carrier says that it placed no call. One that outdial's own rule does not count as a
   * refusal is left open all the same.
   */
  readonly placedNothing: readonly number[];
  /** The header of the request's id. */
  readonly requestIdHeader: string;
  /**
   * A body in outdial's own form: a call has `id`; a refusal has `code`, `type`, `detail` and `errors`, before
   * redaction. What it throws counts as an empty body.
   */
  readonly decode: (text: string) => unknown;
}

/** The reader of a carrier's responses, for `EncodedCall.headOf`. */
export const carrierHead =
  ({
    placedNothing,
    requestIdHeader,
    decode,
  }: CarrierResponses): NonNullable<EncodedCall["headOf"]> =>
  (response, url, signal): Head => {
    const head = headOf(response, url);
    return {
      ...head,
      placed: head.placed === "no" && placedNothing.includes(head.status) ? "no" : "maybe",
      header: (name) => head.header(name === "x-request-id" ? requestIdHeader : name),
      source: {
        text: async () => {
          const text = await readText(head, signal);
          return JSON.stringify(withoutThrowing(() => decode(text))) ?? "";
        },
      },
    };
  };
