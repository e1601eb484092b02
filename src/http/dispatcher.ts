import { isFunction, withoutThrowing } from "../lib/check.ts";

/** The global dispatchers of undici, which is Node's `fetch`: each of its versions has a place of its own for one. */
export const dispatchers = (): readonly unknown[] =>
  [1, 2]
    .map((version) => Reflect.get(globalThis, Symbol.for(`undici.globalDispatcher.${version}`)))
    .filter(Boolean);

/** What Node 22's dispatcher makes of its own functions and interceptors when it sends for the first time. */
const madeLater = "Symbol(Intercepted Dispatch)";

/** An object and its prototypes, with the functions of each and of its lists: those by which it sends may be replaced. */
const partsOf = (object: unknown): readonly unknown[] =>
  object instanceof Object
    ? [
        object,
        ...Reflect.ownKeys(object)
          .filter((key) => String(key) !== madeLater)
          .flatMap((key) => Reflect.getOwnPropertyDescriptor(object, key)?.value)
          .filter(isFunction),
        ...partsOf(Object.getPrototypeOf(object)),
      ]
    : [];

/**
 * What the platform sends by: Node makes it when its undici is loaded, which any use of `Response` does. One that was
 * there before may be anyone's.
 */
const platforms = /* @__PURE__ */ (() => {
  const isFirst = dispatchers().length === 0;
  return Reflect.get(globalThis, "Response") && isFirst ? dispatchers().flatMap(partsOf) : [];
})();

/** Whether these are the platform's own, as it made them: they send a request at most once. Any other may send it again. */
export const arePlatforms = (some: readonly unknown[]): boolean =>
  withoutThrowing(() => {
    const parts = some.flatMap(partsOf);
    return parts.length === platforms.length && parts.every((part, at) => part === platforms[at]);
  }) ?? false;
