import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { getRequestListener } from "@hono/node-server";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** What Prism says against a request or a response. */
export interface Violation {
  /** `request` or `response`, and where in it. */
  readonly location: readonly string[];
  readonly code: string | number;
  readonly message: string;
}

/** A running server. */
export interface Running {
  readonly url: string;
  readonly stop: () => Promise<unknown>;
}

/** Starts Prism on openapi.json: `["mock"]`, or `["proxy", upstream]`. */
export const startPrism = async (...[command, upstream]: readonly string[]): Promise<Running> => {
  const args = [command, path("../../../docs/openapi.json"), upstream, "--port=0", "--cors=false"];
  const child = spawn(
    process.execPath,
    [path("node_modules/.bin/prism"), ...args.filter((one) => one !== undefined)],
    { env: { PATH: process.env.PATH, NO_COLOR: "1" }, stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = once(child, "exit");
  for await (const line of createInterface(child.stdout)) {
    const [url] = /(?<=listening on )http:\S+/.exec(line) ?? [];
    if (!url) continue;
    child.stdout.resume(); // It logs every request.
    return {
      url,
      stop: () => {
        child.kill();
        return ended;
      },
    };
  }
  throw new Error(`prism ${command} ended before it listened`);
};

/** Serves a fetch function on a port. */
export const serve = async (fetch: (request: Request) => Promise<Response>): Promise<Running> => {
  const server = createServer(getRequestListener(fetch));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
};

/** The violations of a response that came through the proxy. */
export const violationsOf = (response: Response): readonly Violation[] =>
  JSON.parse(response.headers.get("sl-violations") ?? "[]");
