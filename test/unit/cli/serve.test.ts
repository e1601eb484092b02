import { expect, it } from "vitest";
import { serveNode } from "../../../src/cli/serve.ts";

it("leaves it to the client to close an idle connection: a POST may be under way on it", async () => {
  const server = await serveNode(async () => new Response(), { hostname: "127.0.0.1", port: 0 });
  const { headers } = await fetch(`http://127.0.0.1:${server.port}/`);
  const [, seconds] = /^timeout=(\d+)$/.exec(headers.get("keep-alive") ?? "") ?? [];
  // The longest that a proxy of a cloud keeps one.
  expect(Number(seconds)).toBeGreaterThan(600);
  await server.stop();
});
