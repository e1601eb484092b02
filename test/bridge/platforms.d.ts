// As much of each platform as the entries of the bridge use. A project of one platform takes its own:
// @cloudflare/workers-types, @types/bun, and Deno brings them.

declare class WebSocketPair {
  readonly 0: WebSocket;
  readonly 1: WorkersSocket;
}

interface WorkersSocket extends WebSocket {
  accept(): void;
}

interface ResponseInit {
  readonly webSocket?: WebSocket | undefined;
}

declare const Deno: {
  readonly env: { get(name: string): string | undefined };
  serve(
    options: { readonly hostname: string; readonly port: number },
    handler: (request: Request) => Promise<Response>,
  ): unknown;
  upgradeWebSocket(request: Request): { readonly socket: WebSocket; readonly response: Response };
};

declare const Bun: {
  readonly env: Readonly<Record<string, string | undefined>>;
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly websocket: object;
    readonly fetch: (
      request: Request,
      server: { upgrade(request: Request, options: { readonly data: unknown }): boolean },
    ) => Promise<Response | undefined>;
  }): unknown;
};
