import type { Context } from "../../callbacks/signed-url.ts";
import type { Dial } from "../../flows/actions.ts";
import type { MediaStart } from "../../flows/media/messages.ts";
import { fail, fieldsOf, isFunction, isRecord, isText } from "../../lib/check.ts";
import type { Tool } from "../agent.ts";
import { refusal } from "../tools.ts";

/** Whom an agent may connect the callee to: the fields of `dial`. */
export type TransferTarget = Omit<Dial, "action">;

/** Has the call continue with an action; `context` is that of the signed `ws_url`. */
export type Transfer = (start: MediaStart, action: Dial, context: Context) => unknown;

/** How a call is transferred: one of the two. */
export interface TransferOptions {
  /** Makes the live call continue at a URL that carries the action: `redirect` of `outdial/calls`, with `actionUrl`. */
  readonly redirect?: Transfer | undefined;
  /** Stores the action for the handler of the stream's `flow_url`, which answers with it. */
  readonly decide?: Transfer | undefined;
}

/** A number, or a SIP address: `flowHandler` checks all fields. */
const targetPattern = /^(\+[1-9]\d{6,14}|sip:[^\s<>"]+)$/;

/** Calls that are being transferred, by any tool: a model may ask for two at once. */
const running = new WeakSet<MediaStart>();

/**
 * A tool with which an agent connects the callee to somebody. The targets have names: a model never writes a number. It
 * calls the tool with one argument, `target`: one of the names, as in `{ "target": "billing" }`. What it says before is heard
 * to its end; then the session ends with the outcome `"transferred"`.
 *
 * @param targets - the fields of `dial` by their names, such as `{ billing: { to: "+1…" } }`
 * @param options - `redirect`, or `decide`
 * @throws {BadParametersException} (`placed: "no"`) without a target, or with none or both of the options
 *
 * @example Store the decision where the flow reads it
 * ```ts
 * import { openaiRealtime, transferTo } from "outdial/agents";
 * import { type Dial, hangup } from "outdial/flows";
 *
 * const decided = new Map<unknown, Dial>(); // In production: a store that every process reads.
 * const transfer = transferTo(
 *   { billing: { to: "+12025550100", timeout: 20 } },
 *   { decide: (start, action) => decided.set(start.call_id, action) },
 * );
 * const agent = openaiRealtime({ apiKey: "sk-key", tools: { transfer } });
 * // The stream's `flow_url`: onAnswer: ({ call }) => decided.get(call.call_id) ?? hangup()
 * console.log(agent.name, hangup().action); // openai hangup
 * ```
 * @see docs/agents.md
 */
export const transferTo = (
  targets: Readonly<Record<string, TransferTarget>>,
  { redirect, decide }: TransferOptions = {},
): Tool => {
  if (!isRecord(targets) || Object.keys(targets).length === 0) {
    fail("targets", "must be targets by their names, each with to");
  }
  const actions = new Map(
    Object.entries(targets).map(([name, fields]): [string, Dial] => {
      const { to } = fieldsOf(fields);
      if (!isText(to) || !targetPattern.test(to)) {
        fail("to", "must be E.164, such as +12025550100, or a sip: URI");
      }
      return [name, { ...fields, action: "dial" }];
    }),
  );
  const names = [...actions.keys()];
  const transfer = redirect ?? decide;
  if (!transfer || !isFunction(transfer) || (redirect && decide)) {
    return fail("options", "must have redirect or decide, which make the call continue");
  }
  return {
    description:
      "Connects the callee to somebody else, when they ask for one. Say first, in a few words, that you connect them.",
    parameters: {
      type: "object",
      properties: { target: { type: "string", enum: names } },
      required: ["target"],
    },
    timeout: 60_000,
    run: async (args, { session, start, context, signal }) => {
      const { target } = fieldsOf(args);
      const action = isText(target) ? actions.get(target) : undefined;
      if (!action) {
        return refusal(signal, `Nobody was called: the target must be one of ${names.join(", ")}.`);
      }
      if (running.has(start)) return "They are being connected.";
      running.add(start);
      try {
        const before = () => {
          signal.throwIfAborted(); // The agent goes on after the tool's time.
          return transfer(start, action, context);
        };
        const goesOn = await session.leave("transferred", { before });
        return goesOn && refusal(signal, "They spoke: they were not connected.");
      } finally {
        running.delete(start);
      }
    },
  };
};
