import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { serveNode } from "../../../src/cli/serve.ts";

it("leaves it to the client to close an idle connection: a POST may be under way on it", async () => {
  const server = await serveNode(async () => new Response(), { hostname: "127.0.0.1", port: 0 });
  const { headers } = await fetch(`http://127.0.0.1:${server.port}/`);
  const [, seconds] = /^timeout=(\d+)$/.exec(headers.get("keep-alive") ?? "") ?? [];
  // The longest that a proxy of a cloud keeps one.
  expect(Number(seconds)).toBeGreaterThan(600);
  await server.stop();
});

it.each([
  ["nothing", ""],
  ["half a head", "POST /flow HTTP/1.1\r\nHost: a\r\nX-A: "],
  ["half a body", "POST /flow HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"],
])("with limits it cuts off who sends %s, and no more", async (_, sent) => {
  const handler = async (request: Request) => new Response(await request.text());
  const limits = { headTimeout: 200, requestTimeout: 300 };
  const server = await serveNode(handler, { hostname: "127.0.0.1", port: 0 }, limits);
  onTestFinished(server.stop);
  const socket = connect(server.port, "127.0.0.1");
  socket
    .on("error", () => {})
    .resume()
    .write(sent);
  await new Promise((closed) => socket.once("close", closed));
});
