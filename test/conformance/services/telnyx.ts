import { assert } from "chai";
import { telnyx } from "outdial/telnyx";
import { apiKey } from "../fixtures.ts";
import { type Carrier, isRecord } from "./carrier.ts";
import { mediaCases } from "./media-streams.ts";
import { applicationId, requests } from "./telnyx-requests.ts";

/** Telnyx, as https://developers.telnyx.com/api-reference/texml-rest-commands has it. */
export const carrier = (): Carrier => ({
  name: "telnyx",
  service: telnyx({ applicationId }),
  // Of 408, 409 and 5xx nothing is written.
  placedNothing: [400, 401, 402, 403, 404, 405, 415, 422, 429],
  path: `/v2/texml/calls/${applicationId}`,
  contentType: "application/json",
  readCall: (body) => {
    const { From, To, Url, StatusCallback, StatusCallbackEvent, ...methods } = JSON.parse(body);
    assert.equal(StatusCallbackEvent, "initiated ringing answered completed");
    assert.deepEqual(new Set(Object.values(methods)), new Set(["POST"]));
    return {
      from_number: From,
      to_number: To,
      flow_url: Url,
      status_callback_url: StatusCallback,
    };
  },
  assertToken: (token, key) => assert.equal(token, key),
  idField: (digit) => `"sid":"c_${digit}"`,
  requestIdHeader: "x-request-id",
  keyFor: (key) => key,
  hasOwnKeys: false,
  echoedKey: apiKey,
  showsKey: (text) => text.includes(apiKey),
  bodyFor: ({ data, id, detail, code, message = detail, ...rest }) => {
    const call = isRecord(data) ? data : {};
    const call_sid = call.id ?? id;
    const title = typeof detail === "string" ? detail : message;
    return {
      ...rest,
      ...call,
      ...(call_sid !== undefined && { call_sid }),
      ...(title !== undefined && { errors: [{ code, title }] }),
    };
  },
  unlike: {},
  cases: [
    ...requests,
    ...mediaCases({
      service: telnyx({ applicationId }),
      streamId: "stream_id",
      callId: "call_control_id",
      accountId: "user_id",
      parameters: "custom_parameters",
      format: { media_format: { encoding: "PCMU", sample_rate: 8000, channels: 1 } },
      sendsStreamId: false,
    }),
  ],
});
