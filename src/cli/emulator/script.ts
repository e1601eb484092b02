import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { signUrl } from "../../callbacks/index.ts";
import { type FlowOptions, flowHandler } from "../../flows/index.ts";
import { BadParametersException } from "../../index.ts";
import { fieldsOf, isRecord } from "../../lib/check.ts";
import type { Service } from "../../service.ts";
import { issueLine, UsageError } from "../command.ts";

/** What a script may decide; the command gives the rest. */
const names = ["onAnswer", "onMachine", "steps", "onInput"] as const;

/** The options of `flowHandler` that a script has. */
type Script = Pick<FlowOptions<string>, (typeof names)[number]>;

/** What a script's handler needs of the command. */
interface ScriptOptions {
  /** The carrier in whose form the flow is answered. */
  readonly service: Service | undefined;
  /** Called with what the script's functions throw, and with the id of the call. */
  readonly onError: (error: unknown, request: Request, call_id?: string) => void;
}

/** A file whose default export decides what calls do. */
export interface ScriptedFlow {
  /** Answers a flow request, at a URL that need not be signed. */
  readonly answer: (request: Request) => Promise<Response>;
}

/** @throws {UsageError} which names the rule that the module breaks */
const scriptIn = (module: unknown): Script => {
  const script = fieldsOf(module).default;
  if (!isRecord(script)) {
    throw new UsageError(
      "--script must have a default export: { onAnswer, steps, onMachine, onInput }",
    );
  }
  const unknown = Object.keys(script).find((name) => !names.some((known) => known === name));
  if (unknown !== undefined) {
    const shown = /^\w{1,30}$/.test(unknown) ? unknown : "a field";
    throw new UsageError(`--script: ${shown} is not one of ${names.join(", ")}: drop it`);
  }
  const { onAnswer, ...rest } = script;
  if (typeof onAnswer !== "function") throw new UsageError("--script: onAnswer is missing");
  return { ...rest, onAnswer: (input) => Reflect.apply(onAnswer, script, [input]) };
};

/** When a file was changed last; `undefined` while it is not there, as an editor may replace it. */
const changedAt = async (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

/**
 * Loads a script, and again when its file has changed: the next request gets the new one. TypeScript is taken as the
 * runtime strips it.
 *
 * @throws {UsageError} if it can't be loaded now; later the error goes to `onError`, and the last one that could stays
 */
export const loadScript = async (
  file: string,
  { service, onError }: ScriptOptions,
): Promise<ScriptedFlow> => {
  const path = resolve(file);
  const secret = crypto.randomUUID();
  let loadedAt: number | undefined;
  let handler: ((request: Request) => Promise<Response>) | undefined;

  const load = async (): Promise<void> => {
    const at = await changedAt(path);
    if (at === undefined && !handler) throw new UsageError(`--script cannot be read: ${file}`);
    if (at === undefined || at === loadedAt) return;
    loadedAt = at;
    const module: unknown = await import(`${pathToFileURL(path)}?changed=${at}`);
    // The emulator's requests need no check: it has sent them to itself. A signed URL carries a conversation.
    handler = flowHandler({
      ...scriptIn(module),
      secret,
      onError,
      ...(service && {
        service: { ...service, application: { ...service.application, verify: undefined } },
      }),
    });
  };
  try {
    await load();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason =
      error instanceof BadParametersException
        ? issueLine(error.issues)
        : String(fieldsOf(error).message ?? error);
    throw new UsageError(`--script cannot be loaded: ${reason}`);
  }

  return {
    answer: async (request) => {
      await load().catch((error) => onError(error, request));
      const { url } = request;
      const isSigned = new URL(url).searchParams.has("outdial");
      const asked = isSigned ? request : new Request(await signUrl(url, { secret }), request);
      return handler?.(asked) ?? new Response(null, { status: 503 });
    },
  };
};
