/** The part of Express that the tests use; its own types are a package of their own. */
declare module "express" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  export interface ExpressRequest extends IncomingMessage {
    readonly path: string;
    readonly method: string;
    readonly originalUrl: string;
    readonly body: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
  }

  export interface ExpressResponse extends ServerResponse {
    status(code: number): this;
    type(name: string): this;
    set(name: string, value: string): this;
    send(body: string | Uint8Array): this;
    redirect(status: number, url: string): void;
  }

  export type RequestHandler = (
    request: ExpressRequest,
    response: ExpressResponse,
    next: () => void,
  ) => void;

  export interface Express extends RequestListener {
    use(...handlers: readonly RequestHandler[]): this;
    all(path: string, ...handlers: readonly RequestHandler[]): this;
  }

  interface Factory {
    (): Express;
    urlencoded(options: { readonly extended: boolean }): RequestHandler;
  }

  const express: Factory;
  export default express;
}
