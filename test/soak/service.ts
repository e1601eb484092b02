import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { createEmulator, type Emulator } from "outdial/emulator";
import { answering } from "./child.ts";
import { Calls } from "./ledger.ts";
import { heapInUse } from "./memory.ts";

/** The emulator on loopback, with a wire that loses some answers. It notes every call that it takes. */
const calls = new Calls();
let emulator: Emulator;

const attemptOf = (url: string): number => Number(new URL(url).searchParams.get("attempt"));

const gone = (): Response => new Response(null, { headers: { "x-hono-already-sent": "true" } });

const server = createServer(
  { keepAliveTimeout: 0 }, // Only a client closes an idle connection: a POST may be on its way on it.
  getRequestListener(
    async (request, { outgoing }) => {
      const wire = request.headers.get("x-wire");
      const lose = () => {
        Object(outgoing).destroy();
        return gone();
      };
      if (wire === "lose before") return lose();
      try {
        const response = await emulator.fetch(request);
        return wire === "lose after" ? lose() : response;
      } catch {
        return lose(); // As the number called wants it, or because the caller is gone.
      }
    },
    { overrideGlobalObjects: false },
  ),
);

answering({
  start: async ({ webhookSecret }: { readonly webhookSecret: string }) => {
    emulator = createEmulator({
      webhookSecret,
      clock: "instant",
      keep: 100,
      onCall: ({ id, status_callback_url }) => {
        calls.note(attemptOf(status_callback_url), id);
        return undefined;
      },
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return { baseUrl: `http://127.0.0.1:${port}`, key: emulator.apiKey };
  },
  rotate: () => emulator.regenerateKey(),
  sample: async () => {
    const over = ["completed", "failed"];
    while (emulator.calls.some(({ state }) => !over.includes(state))) await wait(20);
    return heapInUse();
  },
  close: async () => {
    await emulator.close();
    return { ids: calls.ids.toArray(), doubled: calls.doubled };
  },
});
