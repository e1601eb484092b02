import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Cut, good, type Protocol } from "../fault.ts";
import { faults, wantedOf } from "../table/index.ts";
import { cors } from "./answer.ts";
import { type Cell, openCell } from "./cell.ts";
import { cut } from "./network.ts";

/**
 * The server that misbehaves. `GET /open/<protocol>/<fault>` opens a port that has this fault, and
 * gives its base URL and its id; `GET /seen/<id>` gives what it saw, and `GET /close/<id>` closes it, too.
 * `GET /faults` names those that are wanted: of all that have this in their name those that leave the
 * network alone, or where the machine's own network is named and this is another, those that don't.
 * `GET /cut/<way>` then takes it away. All else is the page in which a browser runs.
 */
const [, , folder = "", only = "", machine = ""] = process.argv;
const wanted = wantedOf(only, Boolean(machine)).map(({ name }) => name);
const cells = new Map<string, Cell>();

const open = async (protocol: Protocol, name: string) => {
  const fault = faults.find((each) => each.name === name);
  if (!fault) throw new Error(`no fault ${name}`);
  const cell = await openCell(fault.server ?? good, protocol, folder);
  const id = crypto.randomUUID();
  cells.set(id, cell);
  return { id, baseUrl: fault.baseUrl ?? cell.baseUrl };
};

const close = async (id: string) => {
  const cell = cells.get(id);
  cells.delete(id);
  return cell?.close();
};

const server = createServer(async ({ method, url = "" }, response) => {
  if (method === "OPTIONS") return void response.writeHead(204, cors).end();
  const [, verb, first = "", second = ""] = url.split("/").map(decodeURIComponent);
  const json = { ...cors, "content-type": "application/json" };
  const verbs: Readonly<Record<string, () => unknown>> = {
    faults: () => wanted,
    open: () => open(first as Protocol, second),
    seen: () => cells.get(first)?.seen,
    close: () => close(first),
    cut: () => {
      // The answer has to arrive first.
      response.on("finish", () => setTimeout(() => cut(first as Cut, machine), 100));
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
