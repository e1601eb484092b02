import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type Limits, serveNode } from "../../../src/cli/serve.ts";

it("leaves it to the client to close an idle connection: a POST may be under way on it", async () => {
  const server = await serveNode(async () => new Response(), { hostname: "127.0.0.1", port: 0 });
  const { headers } = await fetch(`http://127.0.0.1:${server.port}/`);
  const [, seconds] = /^timeout=(\d+)$/.exec(headers.get("keep-alive") ?? "") ?? [];
  // The longest that a proxy of a cloud keeps one.
  expect(Number(seconds)).toBeGreaterThan(600);
  await server.stop();
});

const patient: Limits = {
  ...{ headTimeout: 60_000, requestTimeout: 60_000, silenceTimeout: 60_000 },
  maxConnections: 10,
};

it.each([
  ["nothing", ""],
  ["half a head", "POST /flow HTTP/1.1\r\nHost: a\r\nX-A: "],
  ["half a body", "POST /flow HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"],
])("with limits it cuts off who sends %s, and no more", async (_, sent) => {
  const handler = async (request: Request) => new Response(await request.text());
  const limits = { ...patient, headTimeout: 200, requestTimeout: 300 };
  const server = await serveNode(handler, { hostname: "127.0.0.1", port: 0 }, limits);
  onTestFinished(server.stop);
  const socket = connect(server.port, "127.0.0.1");
  socket
    .on("error", () => {})
    .resume()
    .write(sent);
  await new Promise((closed) => socket.once("close", closed));
});

it("with limits it closes idle connections for new ones, and takes no more than its most", async () => {
  const pending = Promise.withResolvers<void>();
  const handler = async ({ url }: Request) => {
    if (url.endsWith("/slow")) await pending.promise;
    return new Response();
  };
  const limits = { ...patient, maxConnections: 4 };
  const server = await serveNode(handler, { hostname: "127.0.0.1", port: 0 }, limits);
  onTestFinished(server.stop);
  const request = async (path: string) => {
    const socket = connect(server.port, "127.0.0.1");
    const closed = new Promise<string>((resolve) => socket.once("close", () => resolve("closed")));
    const answered = new Promise<string>((resolve) =>
      socket.once("data", () => resolve("answered")),
    );
    socket.on("error", () => {}).write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return { closed, answered, first: Promise.race([closed, answered]) };
  };
  const idle = [await request("/"), await request("/")];
  for (const { first } of idle) expect(await first).toBe("answered");
  const slow = await Promise.all([1, 2, 3, 4].map(() => request("/slow")));
  for (const { closed } of idle) expect(await closed).toBe("closed");
  expect(await (await request("/")).first).toBe("closed");
  pending.resolve();
  for (const { first } of slow) expect(await first).toBe("answered");
});

it("above half of its most it soon cuts off who sends no request, and nobody whose request is under way", async () => {
  const pending = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const handler = async () => {
    begun.resolve();
    await pending.promise;
    return new Response();
  };
  const limits = { ...patient, maxConnections: 4, silenceTimeout: 20 };
  const server = await serveNode(handler, { hostname: "127.0.0.1", port: 0 }, limits);
  onTestFinished(server.stop);
  const send = (text: string) => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => {});
    socket.write(text);
    const ended = (name: string) =>
      new Promise<string>((resolve) => socket.resume().once(name, () => resolve(name)));
    return Promise.race([ended("data"), ended("close")]);
  };
  const called = send("POST /flow HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  await begun.promise;
  const half = "POST /flow HTTP/1.1\r\nHost: a\r\nX-A: ";
  expect(await Promise.all([send(half), send(half)])).toEqual(["close", "close"]);
  pending.resolve();
  expect(await called).toBe("data");
});
