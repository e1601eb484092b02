import { assert } from "chai";
import { twilio } from "outdial/twilio";
import { cases as requests } from "../callbacks/twilio.ts";
import { apiKey } from "../fixtures.ts";
import { type Carrier, isRecord } from "./carrier.ts";
import { mediaCases } from "./media-streams.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";

const basicOf = (key: string): string => btoa(`${accountSid}:${key}`);

/** Twilio, as https://www.twilio.com/docs/voice/api/call-resource and .../usage/twilios-response have it. */
export const carrier = (): Carrier => ({
  name: "twilio",
  service: twilio({ accountSid }),
  // 429 is the one that is written down as never processed; of 408, 409, 422 and 5xx nothing is written.
  placedNothing: [400, 401, 403, 404, 405, 429],
  path: `/2010-04-01/Accounts/${accountSid}/Calls.json`,
  contentType: "application/x-www-form-urlencoded",
  readCall: (body) => {
    const fields = new URLSearchParams(body);
    const text = (name: string) => fields.get(name) ?? "";
    return {
      from_number: text("From"),
      to_number: text("To"),
      flow_url: text("Url"),
      // Twilio keeps the fragment, which has its own options, to itself.
      status_callback_url: text("StatusCallback").replace(/#.*/, ""),
    };
  },
  assertToken: (token, key) => assert.equal(token, basicOf(key)),
  idField: (digit) => `"sid":"c_${digit}"`,
  requestIdHeader: "twilio-request-id",
  keyFor: (key) => key,
  hasOwnKeys: false,
  echoedKey: apiKey,
  showsKey: (text) => [apiKey, basicOf(apiKey)].some((each) => text.includes(each)),
  bodyFor: ({ data, id, detail, ...rest }) => {
    const call = isRecord(data) ? data : {};
    const sid = call.id ?? id;
    return {
      ...rest,
      ...call,
      ...(sid !== undefined && { sid }),
      ...(typeof detail === "string" && { message: detail }),
    };
  },
  unlike: {},
  cases: [
    ...requests,
    ...mediaCases({
      service: twilio({ accountSid }),
      streamId: "streamSid",
      callId: "callSid",
      accountId: "accountSid",
      parameters: "customParameters",
      format: { mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 } },
      sendsStreamId: true,
    }),
  ],
});
