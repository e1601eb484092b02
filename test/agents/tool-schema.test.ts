import { toJsonSchema } from "@valibot/to-json-schema";
import { openaiRealtime, type Tool } from "outdial/agents";
import { number, object, parse, string } from "valibot";
import { expect, test } from "vitest";

const Order = object({ dish: string(), portions: number() });

/** A tool whose arguments one valibot schema describes to the model, and checks when they come. */
const order = {
  description: "Orders a dish.",
  parameters: { ...toJsonSchema(Order) },
  run: (args: unknown) => `${parse(Order, args).portions} ordered`,
} satisfies Tool;

test("a valibot schema of the user's describes a tool, and checks what the model sends", async () => {
  expect(openaiRealtime({ apiKey: "sk-test-key", tools: { order } }).name).toBe("openai");
  expect(order.parameters).toMatchObject({
    type: "object",
    properties: { dish: { type: "string" }, portions: { type: "number" } },
    required: ["dish", "portions"],
  });
  expect(await order.run({ dish: "soup", portions: 2 })).toBe("2 ordered");
  await expect((async () => order.run({ dish: "soup" }))()).rejects.toThrow();
});
