import { fieldsOf, withoutThrowing } from "../lib/check.ts";

/**
 * The default factory of undici's `Agent`, in undici 6 to 8 and in Node: a `Client` or a `Pool` for each origin, which
 * send a request once.
 */
const defaultFactory =
  /^function.{1,40}{\s+return opts && opts.connections === 1\s+\? new Client\d*\(origin, opts\)\s+: new Pool\d*\(origin, opts\);?\s+}$/;

/**
 * Whether it can be seen that a dispatcher of undici sends a request at most once: a plain `Agent`, or what Node makes of
 * some with NODE_USE_ENV_PROXY. What extends or composes one may do anything.
 */
const sendsOnce = (given: unknown): boolean => {
  const dispatcher = fieldsOf(given);
  const prototype = Object.getPrototypeOf(dispatcher);
  if (dispatcher.dispatch !== prototype.dispatch) return false;
  const kind = `${prototype.constructor.name} ${Object.getPrototypeOf(prototype).constructor.name}`;
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.getOwnPropertySymbols(dispatcher).map((symbol) => [
      symbol.description,
      Reflect.get(dispatcher, symbol),
    ]),
  );
  if (kind === "Agent DispatcherBase") {
    const { interceptors, clientFactory } = fieldsOf(fields.options);
    return defaultFactory.test(String(fields.factory)) && !interceptors && !clientFactory;
  }
  // All of its agents have the same options.
  if (kind === "EnvHttpProxyAgent DispatcherBase") return sendsOnce(fields["no proxy agent"]);
  // Of the dispatcher of a newer version, which is looked at, too.
  return kind === "Dispatcher1Wrapper Dispatcher";
};

/**
 * The global dispatchers of undici, which is Node's `fetch`: none before its first request, unless an application has
 * set one.
 */
export const dispatchers = (): readonly unknown[] =>
  [1, 2]
    .map((version) => Reflect.get(globalThis, Symbol.for(`undici.globalDispatcher.${version}`)))
    .filter(Boolean);

/** Whether it can be seen that each of these sends a request at most once. */
export const allSendOnce = (some: readonly unknown[]): boolean =>
  withoutThrowing(() => some.every(sendsOnce)) ?? false;
