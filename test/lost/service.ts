import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Fate } from "./plan.ts";

/** What came of one key, or of one POST without one. */
interface Kept {
  readonly body: string;
  readonly id: string;
}

/** What the service saw of one call. */
export interface Seen {
  /** Each POST, as path, key and body. */
  readonly posts: readonly string[];
  /** The ids of the calls that it placed. */
  readonly calls: readonly string[];
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const rawAnswer = (status: number, body: object): Buffer => {
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  const head = `HTTP/1.1 ${status} Answer\r\nContent-Type: application/json\r\nLocation: http://127.0.0.1:4/elsewhere\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n`;
  return Buffer.from(head + text);
};

/** Writes some bytes, and ends the connection. */
const cutAfter = (socket: Socket, bytes: Buffer, by: "end" | "reset"): void => {
  const end = () => (by === "end" ? socket.destroy() : socket.resetAndDestroy());
  if (bytes.length === 0) end();
  else socket.write(bytes, end);
};

/** How the POSTs of a call are answered, and under which name they are counted. */
export interface Answered {
  readonly name: string;
  readonly fates: readonly Fate[];
}

/** As the query of its `flow_url` asks for. */
const asAsked = ({ flow_url }: { readonly flow_url: string }): Answered => {
  const asked = new URL(flow_url).searchParams;
  return { name: asked.get("name") ?? "", fates: JSON.parse(asked.get("fates") ?? "[]") };
};

/**
 * A service that keeps `Idempotency-Key` as docs/service.md says, on a real port: without a key each POST is one more call.
 *
 * @param answeredFor - how a call is answered, by its parameters
 */
export const startService = async (
  answeredFor: (params: {
    readonly flow_url: string;
    readonly to_number: string;
  }) => Answered = asAsked,
) => {
  const kept = new Map<string, Kept>();
  const seen = new Map<string, { posts: string[]; calls: string[] }>();
  const silent = new Set<Socket>();
  let ids = 0;
  let posts = 0;
  const answer = async (request: IncomingMessage, { socket }: ServerResponse) => {
    const body = await bodyOf(request);
    const params = JSON.parse(body);
    const { name, fates } = answeredFor(params);
    posts++;
    const one = seen.get(name) ?? { posts: [], calls: [] };
    seen.set(name, one);
    const key = request.headers["idempotency-key"];
    const fate =
      fates[Math.min(one.posts.push(JSON.stringify([request.url, key, body])), fates.length) - 1];
    if (!fate || !socket) throw new Error("an unplanned POST");
    const known = typeof key === "string" ? kept.get(key) : undefined;
    if (known && known.body !== body) throw new Error("a key with another body");
    const place = (): string => {
      if (known) return known.id;
      const id = `cs_${++ids}`;
      one.calls.push(id);
      if (typeof key === "string") kept.set(key, { body, id });
      return id;
    };
    const data = () => {
      const { flow_url: _, ...fields } = params;
      return { ...fields, id: place() };
    };
    const send = (status: number, given: object) =>
      cutAfter(socket, rawAnswer(status, given), "end");
    switch (fate.is) {
      case "cut":
        return cutAfter(socket, rawAnswer(202, { data: data() }).subarray(0, fate.bytes), fate.by);
      case "silent":
        place();
        return silent.add(socket);
      case "unplaced":
        return cutAfter(socket, Buffer.of(), "reset");
      case "foreign":
        return send(202, { data: { ...data(), to_number: "+12025550199" } });
      case "status":
        if (fate.places) place();
        return send(fate.status, { detail: "no", message: "no", code: fate.code });
      case "whole":
        return send(202, { data: data() });
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    /** How many POSTs came. */
    posts: () => posts,
    seen: (name: string): Seen => seen.get(name) ?? { posts: [], calls: [] },
    close: () => {
      for (const socket of silent) socket.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
};

/** A service that answers one POST by ending its connection, and from then on refuses connections. */
export const startVanishing = async (): Promise<string> => {
  const server = createServer((_, { socket }) => {
    server.close();
    socket?.destroy();
    server.closeAllConnections();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
