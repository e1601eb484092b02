import { createServer as createHttp } from "node:http";
import { createServer, type Socket } from "node:net";
import process from "node:process";
import type { Plan } from "./plan.ts";

/**
 * A server that answers as it is asked, byte by byte. `POST /plan` on the control's port takes a plan and
 * gives its id; `GET /seen/<id>` gives how many POSTs arrived for it, at `/<id>/…` on the other port.
 */
const plans = new Map<string, { readonly plan: Plan; posts: number }>();

const answer = (socket: Socket, request: string): void => {
  const known = plans.get(/^POST \/(\d+)\//.exec(request)?.[1] ?? "");
  if (!known) {
    socket.destroy();
    return;
  }
  known.posts++;
  const { raw, end } = known.plan;
  socket.write(raw, "latin1", () => {
    if (end === "close") socket.end();
    if (end === "reset") setTimeout(() => socket.resetAndDestroy(), 5);
  });
};

const wire = createServer((socket) => {
  let request = "";
  socket.on("error", () => {});
  socket.on("data", (data) => {
    request += data.toString("latin1");
    const end = request.indexOf("\r\n\r\n");
    const length = Number(/content-length: *(\d+)/i.exec(request)?.[1] ?? 0);
    if (end < 0 || request.length < end + 4 + length) return;
    answer(socket, request);
    request = "";
  });
});

const control = createHttp(async (request, response) => {
  const [, verb, id = ""] = (request.url ?? "").split("/");
  if (verb === "seen") {
    return void response.end(JSON.stringify({ posts: plans.get(id)?.posts ?? 0 }));
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const next = `${plans.size + 1}`;
  plans.set(next, { plan: JSON.parse(Buffer.concat(chunks).toString()), posts: 0 });
  response.end(next);
});

const portOf = (server: { address(): unknown }): number => Object(server.address()).port;

// The launcher holds the other end of stdin: when it goes, this goes.
process.stdin.on("end", () => process.exit()).resume();
wire.listen(0, "127.0.0.1", () =>
  control.listen(0, "127.0.0.1", () => console.log(`${portOf(control)} ${portOf(wire)}`)),
);
