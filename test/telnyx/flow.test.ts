import { describe, expect, it } from "vitest";
import { presses } from "../carriers/callee.ts";
import { hangup } from "../carriers/markup.ts";
import { type Answer, verbsOf } from "../carriers/stage.ts";
import { follow } from "./stage.ts";

describe("the request for TeXML", () => {
  it.each<[string, Answer, string]>([
    ["HTTP 500", 500, "Url answered HTTP 500"],
    ["no XML", "<Response><Say>", "The TeXML is not well-formed XML"],
    ["no Response", "<Answer/>", "The TeXML has no Response as its root"],
    [
      "a template",
      "<Response><Say>{{From}}</Say></Response>",
      "The TeXML has a Mustache template, which is not emulated",
    ],
  ])("fails for %s", async (_, answer, words) => {
    const { call } = await follow("", { answers: { "/voice": answer } });
    expect(call.reason).toBe("flow_error");
    expect(call.flow_error).toContain(`step 1: ${words}`);
  });
});

describe("Gather", () => {
  const gathered = (attributes: string, keys: string) => {
    const gather = `<Gather action="/chosen" ${attributes}><Say>Press one or two</Say></Gather>`;
    return follow(`<Response>${gather}</Response>`, {
      answers: { "/chosen": hangup, "/invalid": hangup },
      callee: presses([2_000, keys]),
    });
  };

  it("ends after maxDigits", async () => {
    const { at } = await gathered('maxDigits="3"', "12345");
    expect(at("/chosen")).toMatchObject([{ Digits: "123" }]);
  });

  it.each([
    ['validDigits="12" invalidDigitsAction="/invalid"', "13#", "/invalid"],
    ['minDigits="3" invalidDigitsAction="/invalid"', "12#", "/invalid"],
    ['validDigits="12" minDigits="2" invalidDigitsAction="/invalid"', "12#", "/chosen"],
  ])("with %s sends %s to %s", async (attributes, keys, path) => {
    const { received } = await gathered(attributes, keys);
    expect(received.at(-1)).toMatchObject({ path, fields: { Digits: keys.slice(0, -1) } });
  });

  it("without an action continues with the next verb", async () => {
    const document = '<Response><Gather numDigits="1"/><Say>Next</Say></Response>';
    const { call, received } = await follow(document, { callee: presses([500, "7"]) });
    expect([received.length, ...verbsOf(call)]).toEqual([1, "Gather", "Say 500"]);
  });
});
