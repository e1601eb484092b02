import { getDotPath, is, parse, safeParse } from "valibot";
import { describe, expect, test } from "vitest";
import { FromApplication, FromService, faultOf } from "../../../../src/flows/media/messages.ts";
import { FlowRequest } from "../../../../src/flows/request.ts";
import { start } from "./start.ts";

describe("the messages of the service", () => {
  test.each([
    start,
    { ...start, data: { ...start.data, sample_rate: 16_000 } },
    { ...start, region: "eu" },
    { ...start, call_app_id: "app_1" },
    { ...start, call_app_id: null },
    { type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64: "AAA=" } },
    { type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64: "" } },
    { ...start, messages: ["played"] },
  ])("are taken: %j", (message) => {
    expect(is(FromService, message)).toBe(true);
    expect(faultOf(message)).toBeUndefined();
  });

  test.each([
    [{ type: "MARKED" }, "null must be start, audio or played"],
    [{ ...start, message_id: 1.5 }, "message_id must be a whole number from 0"],
    [{ ...start, message_id: -1 }, "message_id must be a whole number from 0"],
    [{ ...start, data: { ...start.data, encoding: "MARKED" } }, "data.encoding must be audio/l16"],
    [
      { ...start, data: { ...start.data, sample_rate: 1 } },
      "data.sample_rate must be 8000 or 16000",
    ],
    [{ ...start, data: { ...start.data, channels: 2 } }, "data.channels must be 1"],
    [{ ...start, data: undefined }, "data is missing"],
    [{ ...start, call_id: 7 }, "call_id must be a string"],
    [{ ...start, call_id: undefined }, "call_id is missing"],
    [{ ...start, message_id: "1" }, "message_id must be a whole number from 0"],
    [{ ...start, data: { ...start.data, encoding: undefined } }, "data.encoding is missing"],
    [{ type: "audio", message_id: 2, data: { audio_b64: "" } }, "stream_id is missing"],
    [{ type: "audio", stream_id: "st_1", message_id: 2, data: {} }, "data.audio_b64 is missing"],
    [
      { type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64: 7 } },
      "data.audio_b64 must be base64 of at most 1 MiB",
    ],
    [
      { type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64: "MARKED!" } },
      "data.audio_b64 must be base64 of at most 1 MiB",
    ],
    [
      {
        type: "audio",
        stream_id: "st_1",
        message_id: 2,
        data: { audio_b64: "A".repeat(2 ** 20 + 1) },
      },
      "data.audio_b64 must be base64 of at most 1 MiB",
    ],
  ])("are refused by field and rule, without the value (%#)", (message, rule) => {
    const arrived = JSON.parse(JSON.stringify(message));
    const { issues } = safeParse(FromService, arrived);
    expect(issues?.map((issue) => `${getDotPath(issue)} ${issue.message}`)).toEqual([rule]);
    expect(faultOf(arrived)).toBe(rule.replace("null", "The message"));
  });
});

describe("the messages of an application", () => {
  test.each([
    { type: "audio", audio_b64: "AAA=" },
    { type: "audio", audio_b64: "AAA=", chunk_id: "hello", later: true },
    { type: "audio", audio_b64: "AAA=", chunk_id: 7 },
    { type: "audio", data: { audio_b64: "AAA=" } },
    { type: "audio", data: { audio_b64: "AAA=", chunk_id: "hello" } },
    { type: "interrupt", chunk_id: "hello" },
    { type: "clear" },
    { type: "clear", later: true },
  ])("are taken: %j", (message) => expect(is(FromApplication, message)).toBe(true));

  const chunk = "must be a string of at most 128 characters, or a number";

  test.each([
    [{ type: "interrupt" }, "chunk_id is missing"],
    [{ type: "interrupt", chunk_id: null }, `chunk_id ${chunk}`],
    [{ type: "interrupt", chunk_id: "x".repeat(129) }, `chunk_id ${chunk}`],
    [{ type: "audio" }, "audio_b64 is missing"],
    [{ type: "audio", data: {} }, "audio_b64 is missing"],
    [{ type: "audio", data: "AAA=" }, "audio_b64 is missing"],
    [{ type: "audio", audio_b64: "AAA=", chunk_id: {} }, `chunk_id ${chunk}`],
    [{ type: "audio", data: { audio_b64: "AAA=", chunk_id: {} } }, `chunk_id ${chunk}`],
    [{ type: "start" }, "type must be audio, interrupt, clear or played"],
    [[], "type must be audio, interrupt, clear or played"],
    [null, "null must be audio, interrupt, clear or played"],
  ])("are refused by field and rule: %j", (message, rule) => {
    const { issues } = safeParse(FromApplication, message);
    expect(issues?.map((issue) => `${getDotPath(issue)} ${issue.message}`)).toEqual([rule]);
  });
});

test("audio reads the same, flat or nested, whatever else is in it", () => {
  const speech = { audio_b64: "AAA=", chunk_id: 7 };
  const read = { type: "audio", ...speech };
  expect(parse(FromApplication, read)).toEqual(read);
  expect(parse(FromApplication, { type: "audio", data: speech })).toEqual(read);
  expect(parse(FromApplication, { type: "audio", data: speech, later: true })).toEqual({
    ...read,
    later: true,
  });
});

test("a flow request has the five texts of the contract, and may have more", () => {
  const call = {
    call_id: "cs_1",
    account_id: "acc_1",
    from_number: "+12025550177",
    to_number: "+12025550188",
    direction: "outbound",
  };
  expect(is(FlowRequest, { ...call, step: 2 })).toBe(true);
  for (const field of Object.keys(call)) {
    const reported = (wrong: unknown) =>
      safeParse(FlowRequest, { ...call, [field]: wrong }).issues?.map(({ message }) => message);
    expect(reported(7)).toEqual(["must be a string"]);
    const { [field as keyof typeof call]: _, ...others } = call;
    expect(safeParse(FlowRequest, others).issues?.map(({ message }) => message)).toEqual([
      "is missing",
    ]);
  }
});
