import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { artefact } from "./stage.ts";
import { overflow, row, theatre, violations } from "./visit.ts";

const show = theatre();

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** An application that streams a call to itself, and what it does with the socket. */
const application = async (talk: (socket: WebSocket) => void): Promise<string> => {
  const server = createServer((_, response) => {
    const { port } = server.address() as AddressInfo;
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ action: "stream", ws_url: `ws://127.0.0.1:${port}/` }));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => socket.once("message", () => talk(socket)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/flow`;
};

/** Samples of a deep voice, in base64. */
const voice = (ms: number): string => {
  const samples = Int16Array.from({ length: 8 * ms }, (_, at) => 9_000 * Math.sin(at / 9));
  return Buffer.from(samples.buffer).toString("base64");
};

/** The picture of both voices, with a cut. */
const cutPicture = (page: Page) =>
  page.getByRole("img", { name: /^Both voices over .* is cut off at \d+\.\d s$/ });

describe("the voices of a streamed call", () => {
  it("are on one time line, with where the application was cut off", async () => {
    const flow_url = await application((socket) => {
      for (let chunk_id = 1; chunk_id <= 6; chunk_id++) {
        socket.send(JSON.stringify({ type: "audio", audio_b64: voice(500), chunk_id }));
      }
      setTimeout(() => socket.send(JSON.stringify({ type: "clear" })), 1_200);
      setTimeout(() => socket.close(), 2_000);
    });
    const page = await show.signIn();
    const id = await show.stage.place({ flow_url });
    await row(page, "+12025550100").click();
    const picture = cutPicture(page);
    await picture.waitFor();
    await row(page, "+12025550100").filter({ hasText: "completed" }).waitFor();
    await page.getByText("call.completed", { exact: true }).waitFor();
    const drawn = (name: string) => picture.locator(`path.${name}`).getAttribute("d");
    expect((await drawn("callee"))?.length).toBeGreaterThan(100);
    const { application: peaks } = await page.evaluate(
      async (call) => (await fetch(`/dashboard/calls/${call}/voices`)).json(),
      id,
    );
    // It spoke for a second and a bit, then fell silent: a bar for each moment at which it was heard.
    const heard = peaks.filter((peak: number) => peak >= 0.004);
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.length).toBeLessThan(peaks.length);
    const bars = async () => (await drawn("application"))?.match(/M/g)?.length;
    await expect.poll(bars).toBe(heard.length);
    expect((await drawn("cut"))?.match(/M/g)).toHaveLength(1);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await overflow(page), `${width} pixels`).toBe(0);
      expect(await violations(page), `${width} pixels`).toEqual([]);
      await page.screenshot({ path: artefact(`${width}-voices`), fullPage: true });
    }
    expect(show.complaints).toEqual([]);
  });

  it("are the newest that came, whatever the order of the responses", async () => {
    const line = Promise.withResolvers<WebSocket>();
    const flow_url = await application((socket) => {
      line.resolve(socket);
      socket.send(JSON.stringify({ type: "audio", audio_b64: voice(500), chunk_id: 1 }));
    });
    const page = await show.signIn();
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const given = Promise.withResolvers<void>();
    let asked = 0;
    let hasCut = false;
    // The first response is held until one with the cut is drawn, and no other comes after them.
    await page.route("**/voices", async (route) => {
      const isFirst = ++asked === 1;
      const response = await route.fetch();
      if (isFirst) {
        held.resolve();
        await release.promise;
      } else if (hasCut) return;
      else hasCut = (await response.json()).cuts.length > 0;
      await route.fulfill({ response });
      if (isFirst) given.resolve();
    });
    const id = await show.stage.place({ flow_url });
    await row(page, "+12025550100").click();
    await held.promise;
    (await line.promise).send(JSON.stringify({ type: "clear" }));
    await cutPicture(page).waitFor();
    release.resolve();
    await given.promise;
    // A response to the page that comes after all that it has had before.
    await page.evaluate(async (call) => (await fetch(`/dashboard/calls/${call}`)).json(), id);
    expect(await cutPicture(page).count()).toBe(1);
  });

  it("come although a request for them got no response", async () => {
    const flow_url = await application((socket) => {
      socket.send(JSON.stringify({ type: "audio", audio_b64: voice(500), chunk_id: 1 }));
      socket.send(JSON.stringify({ type: "clear" }));
      socket.close();
    });
    const page = await show.signIn();
    await show.stage.place({ flow_url });
    await row(page, "+12025550100").filter({ hasText: "completed" }).waitFor();
    for (const request of ["**/voices", /dashboard\/calls\/[^/]+$/]) {
      await page.route(request, (route) => route.abort(), { times: 1 });
    }
    await row(page, "+12025550100").click();
    await cutPicture(page).waitFor();
    await page.getByText("call.completed", { exact: true }).waitFor();
    show.complaints.length = 0; // Chromium's own, of what was aborted.
  });

  it("are of nobody when the call is not streamed", async () => {
    const page = await show.signIn();
    await show.stage.place({});
    await row(page, "+12025550100").filter({ hasText: "completed" }).click();
    await page.getByText("call.completed", { exact: true }).waitFor();
    expect(await page.getByRole("img", { name: /^Both voices/ }).count()).toBe(0);
  });
});
