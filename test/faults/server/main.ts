import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Runtime } from "../../conformance/case.ts";
import { type Cut, good, type Protocol } from "../fault.ts";
import { faultsOf, type Wanted, wantedOf } from "../table/index.ts";
import { cors, makeBodies } from "./answer.ts";
import { type Cell, openCell } from "./cell.ts";
import { cut, type Outage } from "./network.ts";

/**
 * The server that misbehaves. `GET /open/<protocol>/<fault>` opens a port that has this fault, and
 * gives its base URL and its id; `GET /seen/<id>` gives what it saw, `GET /head/<id>` tells it that a head has
 * arrived, and `GET /close/<id>/<connections>` closes it once the client holds no more than these.
 * `GET /faults/<runtime>` names those that are wanted of a runtime: those that leave the
 * network alone, or where the machine's own network is named and this is another, those that don't.
 * `GET /service` names the carrier that it answers as.
 * `GET /cut/<way>/<slowness>` then takes it away, and `GET /outage` gives when. All else is the page in which a browser runs.
 */
const [, , folder = "", given = "", machine = ""] = process.argv;
const wanted: Wanted = JSON.parse(given);
const faults = faultsOf(wanted.service);
makeBodies(faults.filter(({ name }) => new RegExp(wanted.only).test(name)));
const cells = new Map<string, Cell>();

const open = async (protocol: Protocol, name: string) => {
  const fault = faults.find((each) => each.name === name);
  if (!fault) throw new Error(`no fault ${name}`);
  const cell = await openCell(fault.server ?? good, protocol, folder);
  const id = crypto.randomUUID();
  cells.set(id, cell);
  return { id, baseUrl: fault.baseUrl ?? cell.baseUrl };
};

const close = async (id: string, expected: number) => {
  const cell = cells.get(id);
  const seen = await cell?.close(expected);
  cells.delete(id);
  return seen;
};

const head = (id: string) => {
  const cell = cells.get(id);
  if (cell) cell.seen.heads++;
  return id;
};

let outage: Promise<Outage> | undefined;

// Only a client closes an idle connection: a request may be on its way on it.
const server = createServer({ keepAliveTimeout: 0 }, async ({ method, url = "" }, response) => {
  if (method === "OPTIONS") return void response.writeHead(204, cors).end();
  const [, verb, first = "", second = ""] = url.split("/").map(decodeURIComponent);
  const json = { ...cors, "content-type": "application/json" };
  const verbs: Readonly<Record<string, () => unknown>> = {
    faults: () => wantedOf(wanted, first as Runtime, Boolean(machine)).map(({ name }) => name),
    service: () => wanted.service ?? "",
    open: () => open(first as Protocol, second),
    seen: () => cells.get(first)?.seen,
    head: () => head(first),
    close: () => close(first, Number(second)),
    outage: () => outage,
    cut: () => {
      // The answer has to arrive first.
      const sent = once(response, "finish").then(() => wait(100));
      outage = sent.then(() => cut(first as Cut, Number(second), machine));
      return first;
    },
  };
  const answer = verbs[verb ?? ""];
  if (answer) response.writeHead(200, json).end(JSON.stringify(await answer()));
  else {
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<!doctype html><title>page</title>");
  }
});

// The launcher holds the other end of stdin: when it goes, this goes.
process.stdin.on("end", () => process.exit()).resume();
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
