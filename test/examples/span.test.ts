import { mkdirSync, writeFileSync } from "node:fs";
import { trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { type Attempt, calls, type OnAttempt } from "outdial";
import { createEmulator } from "outdial/emulator";
import { expect, test } from "vitest";
import { path } from "./execute.ts";
import { ofPages } from "./extract.ts";

/** The block of the page that makes a span. */
const block = ofPages().find(({ code }) => code.includes("@opentelemetry/api"));

test("the page's span tells of a POST, and of nothing secret", async () => {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
  const folder = path("test/artefacts/span");
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/span.ts`, block?.code ?? "");
  const { onAttempt }: { onAttempt: OnAttempt } = await import(`${folder}/span.ts`);

  const { apiKey, fetch } = createEmulator({ clock: "instant", fetch: () => new Response() });
  const heard: Attempt[] = [];
  const place = (to_number: string) =>
    calls.create(
      {
        from_number: "+12025550199",
        to_number,
        flow_url: "https://app.test/flow",
        status_callback_url: "https://app.test/status",
      },
      {
        ...{ apiKey, fetch, baseUrl: "https://voice.test" },
        onAttempt: (attempt) => {
          heard.push(attempt);
          onAttempt(attempt);
        },
      },
    );
  await place("+12025550100");
  await expect(place("+12025550110")).rejects.toThrow("503");

  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name, status }) => [name, status.code])).toEqual([
    ["POST calls/initiate", 0],
    ["POST calls/initiate", 2],
  ]);
  expect(spans.map(({ attributes }) => attributes)).toEqual(
    heard.map(({ status, placed }) => ({
      "http.request.method": "POST",
      "url.full": "https://voice.test/api/v1/calls/initiate",
      "http.request.resend_count": 0,
      "http.response.status_code": status,
      "outdial.placed": placed,
    })),
  );
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(apiKey);
});
