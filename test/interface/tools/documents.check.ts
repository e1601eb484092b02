import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Parser } from "@asyncapi/parser";
import { expect, test } from "vitest";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

test("Redocly's linter finds no error and no warning in openapi.json, with its recommended rules", () => {
  const redocly = path("node_modules/.bin/redocly");
  const args = ["lint", path("../../../docs/openapi.json"), "--format=json"];
  const { stdout, status } = spawnSync(process.execPath, [redocly, ...args], {
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
    },
  });
  expect(JSON.parse(stdout).problems).toEqual([]);
  expect(status).toBe(0);
});

test("AsyncAPI's parser reads asyncapi.json, and has nothing against it but the existence of 3.1", async () => {
  const text = readFileSync(path("../../../docs/asyncapi.json"), "utf8");
  const { document, diagnostics } = await new Parser().parse(text);
  expect(diagnostics.map(({ code }) => code)).toEqual(["asyncapi-latest-version"]);
  const channel = document?.channels().all()[0];
  expect(channel?.messages().all().length).toBe(6);
  const names = (id: string) =>
    document
      ?.operations()
      .get(id)
      ?.messages()
      .all()
      .map((message) => message.id());
  expect(names("receiveFromService")).toEqual(["start", "serviceAudio"]);
  expect(names("sendToService")).toContain("interrupt");
});
