import { expect, test } from "vitest";
import { signUrl } from "../../../src/callbacks/signed-url.ts";

const secret = "a secret that was made at random";
const round: Record<string, unknown> = {};
round.round = round;

const refused: readonly (readonly [url: string, options: object, param: string, rule: string])[] = [
  [
    "https://app.test",
    { secret: "short" },
    "secret",
    "must be 16 characters or more, or a list of such",
  ],
  ["https://app.test", { secret, expiresIn: 0 }, "expiresIn", "must be whole seconds"],
  ["https://app.test", { secret, expiresIn: 1.5 }, "expiresIn", "must be whole seconds"],
];
const contexts = [round, [], null, { text: "x".repeat(1_024) }];
const urls = [
  "app.test",
  "http://app.test",
  "file:///status",
  "https://app.test/\n",
  `https://app.test/${"x".repeat(2_000)}`,
];

test.each([
  ...refused,
  ...contexts.map(
    (context) =>
      [
        "https://app.test",
        { secret, context },
        "context",
        "must be a JSON object of at most 1 KiB",
      ] as const,
  ),
  ...urls.map(
    (url) =>
      [
        url,
        { secret },
        "url",
        "must be https or wss (http or ws on loopback), at most 2083 characters",
      ] as const,
  ),
])("signUrl refuses (%#)", async (url, options, param, message) => {
  await expect(signUrl(url, options as never)).rejects.toMatchObject({
    name: "BadParametersException",
    issues: [{ param, message }],
  });
});

test.each([undefined, null, {}, 7])("signUrl says that the secret is missing from %j", (options) =>
  expect(signUrl("https://app.test", options as never)).rejects.toMatchObject({ param: "secret" }),
);

test("options that throw when they are read are refused as if they weren't there", async () => {
  const options = {
    get secret(): string {
      throw new Error("MARKED");
    },
  };
  await expect(signUrl("https://app.test", options)).rejects.toMatchObject({ param: "secret" });
});
