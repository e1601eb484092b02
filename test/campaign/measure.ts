// How fast shards call, on this machine: `measure.ts <contacts>`. The service answers at once.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listOf, numbersOf } from "./csv.ts";
import { startWorker } from "./worker.ts";

const contacts = Number(process.argv[2] ?? 20_000);
let posts = 0;
const server = createServer(async (request, response) => {
  for await (const _ of request);
  posts++;
  response.writeHead(201, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ success: true, data: { id: `cs_${posts}` } }));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const worker = await startWorker({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "ak_measure" });
for (const shards of [1, 4]) {
  posts = 0;
  const plan = { rate: 5_000, concurrency: 1_000_000, window: "always", shards };
  const { id } = await (await worker.ask("POST", "/campaigns", plan)).json();
  const began = performance.now();
  await worker.ask("PUT", `/campaigns/${id}/contacts`, listOf(numbersOf(contacts)));
  const added = performance.now();
  await worker.ask("POST", `/campaigns/${id}/start`);
  for (let waiting = contacts; waiting > 0; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    ({ waiting } = await (await worker.ask("GET", `/campaigns/${id}/progress`)).json());
  }
  const ended = performance.now();
  const perSecond = (milliseconds: number) => Math.round((1000 * contacts) / milliseconds);
  console.log({ shards, posts, added: perSecond(added - began), called: perSecond(ended - added) });
}
await worker.close();
server.close();
server.closeAllConnections();
