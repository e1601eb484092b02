import { readFileSync } from "node:fs";
import { calls, type Exception, isException } from "outdial";
import { end, get, press } from "outdial/calls";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { path } from "../examples/execute.ts";
import { documents } from "./documents.ts";
import { errorsOf } from "./values.ts";

const read = (file: string) => readFileSync(path(file), "utf8");

test.each(Object.entries(documents()))("%s is current (npm run interface:write)", (file, text) => {
  expect(read(file)).toBe(text);
});

const openapi = JSON.parse(read("docs/openapi.json"));
const asyncapi = JSON.parse(read("docs/asyncapi.json"));

/** Every content of a request or a response in a part of the file, with its schema. */
const contents = (part: unknown): { schema: { $ref: string }; examples: object }[] => {
  if (typeof part !== "object" || part === null) return [];
  const own = "application/json" in part ? [Object(part["application/json"])] : [];
  return [...own, ...Object.values(part).flatMap(contents)];
};

describe("openapi.json", () => {
  test("every example is valid by its schema", () => {
    const found = contents(openapi).flatMap(({ schema, examples }) =>
      Object.values(examples).map(({ value }) => ({ ref: `openapi.json${schema.$ref}`, value })),
    );
    expect(found.length).toBeGreaterThan(20);
    for (const { ref, value } of found) expect(errorsOf(ref, value), ref).toBe("");
  });

  test("a body is sent where the file has one, and nowhere else", async () => {
    const sent: string[] = [];
    const fetch = async (url: string, { method = "", body }: RequestInit) => {
      const route = new URL(url).pathname.replace("cs_1", "{id}");
      const { requestBody } = openapi.paths[route][method.toLowerCase()];
      expect(body === undefined, route).toBe(requestBody === undefined);
      sent.push(`${method} ${route}`);
      return sent.length % 2
        ? new Response(null, { status: 404 })
        : Response.json({ id: "cs_1", state: "answered" });
    };
    const options = { apiKey: "ak_example", baseUrl: "https://voice.example", fetch };
    await get("cs_1", options);
    await end("cs_1", options);
    await press("cs_1", "1", options);
    expect(sent.toSorted()).toEqual(
      Object.entries<object>(openapi.paths)
        .flatMap(([route, methods]) =>
          Object.keys(methods).map((method) => `${method.toUpperCase()} ${route}`),
        )
        .filter((request) => request.includes("{id}"))
        .toSorted(),
    );
  });

  test("every array says what is in it", () => {
    const bare = (part: unknown, at = ""): readonly string[] => {
      if (typeof part !== "object" || part === null) return [];
      const deeper = Object.entries(part).flatMap(([name, each]) => bare(each, `${at}/${name}`));
      return "type" in part && part.type === "array" && !("items" in part)
        ? [at, ...deeper]
        : deeper;
    };
    expect([...bare(openapi), ...bare(asyncapi)]).toEqual([]);
  });

  const { responses } = openapi.components;
  const statuses = Object.keys(responses).map((name) => Number(name.replace("Refused", "")));

  test.each(statuses)(
    "after %i the client knows whether a call was placed, as x-placed says",
    async (status) => {
      const { "x-placed": placed, content } = responses[`Refused${status}`];
      const { value } = content["application/json"].examples.refused;
      const error: Exception = await calls
        .create(
          openapi.paths["/api/v1/calls/initiate"].post.requestBody.content["application/json"]
            .examples.call.value,
          {
            apiKey: "ak_example",
            baseUrl: "https://voice.example",
            fetch: async () => Response.json(value, { status }),
          },
        )
        .then(
          () => expect.fail("the call was placed"),
          (reason: unknown) => (isException(reason) ? reason : Promise.reject(reason)),
        );
      expect(error).toMatchObject({ code: status, placed, detail: value.message });
      if (Array.isArray(value.detail)) expect(error).toMatchObject({ errors: value.detail });
    },
  );
});

test("asyncapi.json: every example is valid by its schema", () => {
  const messages: { payload: { $ref: string }; examples: { payload: unknown }[] }[] = Object.values(
    asyncapi.components.messages,
  );
  expect(messages).toHaveLength(8);
  for (const { payload: schema, examples } of messages) {
    for (const { payload } of examples) {
      expect(errorsOf(`asyncapi.json${schema.$ref}`, payload), schema.$ref).toBe("");
    }
  }
});

describe("docs/service.md", () => {
  const page = read("docs/service.md");

  test("its signature is what the npm package standardwebhooks makes of the vector", () => {
    const value = (name: string): string => {
      const start = `| ${name} | `;
      const row = page.split("\n").findLast((line) => line.startsWith(start)) ?? expect.fail(name);
      return row
        .slice(start.length)
        .replace(/^.| \|$/g, "")
        .slice(0, -1);
    };
    const id = value("`webhook-id`");
    const body = value("body");
    const at = new Date(Number(value("`webhook-timestamp`")) * 1000);
    const signature = new Webhook(value("secret")).sign(id, at, body);
    expect(signature).toBe(value("`webhook-signature`"));
    expect(errorsOf("openapi.json#/components/schemas/CallRinging", JSON.parse(body))).toBe("");
  });

  /** The schemas of the page's blocks, in their order. */
  const blocks = [
    ...[
      "openapi CallParams",
      "openapi CallParams",
      "openapi Accepted",
      "openapi Refusal",
      "openapi FieldRefusal",
    ],
    ...["openapi CallCompleted", "openapi OlderNotification", "openapi FlowRequest"],
    ...["openapi Play", "openapi Stream", "openapi Dial", "openapi Hangup"],
    ...["openapi Say", "openapi Record", "openapi Gather"],
    ...["asyncapi Start", "asyncapi ServiceAudio", "asyncapi ApplicationAudio"],
    ...["asyncapi NestedApplicationAudio", "asyncapi Interrupt", "asyncapi Clear"],
    ...["asyncapi PlayedRequest", "asyncapi Played"],
  ];

  test("every block of JSON is valid by the files, and there is one of each kind", () => {
    const found = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) =>
      JSON.parse(text),
    );
    expect(found).toHaveLength(blocks.length);
    for (const [index, block] of blocks.entries()) {
      const [file, name] = block.split(" ");
      expect(errorsOf(`${file}.json#/components/schemas/${name}`, found[index]), block).toBe("");
    }
  });

  test("names every status, every field and every reason of the files", () => {
    const { schemas } = openapi.components;
    const names = [
      ...Object.keys(openapi.components.responses).map((name) => name.replace("Refused", "")),
      ...[
        "CallParams",
        "Play",
        "Stream",
        "Dial",
        "Say",
        "Gather",
        "Record",
        "FlowRequest",
        "CallCompleted",
      ].flatMap((name) => Object.keys(schemas[name].properties)),
      ...["Initiated", "Answered", "Completed", "Failed"].flatMap((name) => [
        ...Object.keys(schemas[`Call${name}`].properties.data.properties),
        ...(schemas[`Call${name}`].properties.data.properties.reason?.enum ?? []),
      ]),
    ];
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });
});
