import { expect, test } from "vitest";
import { signUrl } from "../../src/callbacks/index.ts";
import { createEmulator } from "../../src/emulator/index.ts";
import { play } from "../../src/flows/index.ts";
import { Client, calls } from "../../src/index.ts";

const messageOf = async (act: () => unknown): Promise<string> => {
  try {
    await act();
  } catch (error) {
    return String(error);
  }
  throw new Error("Nothing was thrown");
};

const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

test.each<readonly [string, () => unknown]>([
  ["a builder", () => play("nothing")],
  ["a signer", () => signUrl("nothing", { secret: "x".repeat(32) })],
  ["an option of the emulator", () => createEmulator({ keep: -1 })],
  ["ended of an unknown call", () => createEmulator().ended("cs_1")],
  ["the options of a Client", () => new Client("key", { baseUrl: "nothing" })],
])("an error of %s says nothing about a call, as none was being placed", async (_, act) => {
  const message = await messageOf(act);
  expect(message).toMatch(/^BadParametersException: /);
  expect(message).not.toMatch(/call was placed/);
});

test.each<readonly [string, () => unknown]>([
  ["a parameter", () => calls.create({ ...params, to_number: "1" }, options)],
  ["an option", () => calls.create(params, { ...options, timeout: -1 })],
])("an error of create in %s says that no call was placed", async (_, act) => {
  expect(await messageOf(act)).toMatch(/ \(no call was placed\)$/);
});

const options = { apiKey: "key", baseUrl: "https://service.test" };
