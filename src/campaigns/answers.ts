import type { Context } from "../callbacks/signed-url.ts";
import { isAnswerName } from "../flows/recorded.ts";
import { fail, fieldsOf, isText } from "../lib/check.ts";
import { recordNews } from "./contact-state.ts";
import { machineByAgent } from "./disposition.ts";
import { attemptIn, isAtService, openAttempt } from "./notifications.ts";
import type { ServiceSettings } from "./options.ts";
import type { Sql } from "./sqlite.ts";
import { contactOf, isErased } from "./tables.ts";

/** What `onInput` of `flowHandler` gets, as far as a campaign keeps it. */
export interface CallInput {
  /** The call that it is about. */
  readonly call: { readonly call_id: string };
  /** The context of the signed `flow_url`. */
  readonly context: Context;
  /** All answers so far, by their names. */
  readonly answers: Readonly<Record<string, string>>;
  /** The keys that were pressed; `""` when none were. */
  readonly digits?: string | undefined;
  /** What was said: a machine speaks too, so this shows no person. */
  readonly speech?: object | undefined;
  /** What answered the telephone. */
  readonly answered_by?: string | undefined;
  /** `"left"`: the message was played to a machine to its end. */
  readonly message?: string | undefined;
}

/** How an agent has left a call: `onEnd` of `connectAgent` gets it. */
export interface CallOutcome {
  /** The context of the signed `ws_url`, which the campaign's `flow_url` has signed with its own. */
  readonly context: Context;
  /** What `leave` was given: `message_left` and `machine` are dispositions, anything else is the answer `outcome`. */
  readonly outcome?: string | undefined;
}

/** The dispositions of a machine, by an agent that has heard it. */
const machines: ReadonlyMap<unknown, Partial<CallInput>> = new Map([
  ["machine", { answered_by: machineByAgent }],
  ["message_left", { answered_by: machineByAgent, message: "left" }],
]);

/** What an outcome says, as the input of a flow. */
export const inputOf = ({ context, outcome }: CallOutcome): CallInput => ({
  call: { call_id: "" },
  context,
  answers: outcome === undefined || machines.has(outcome) ? {} : { outcome },
  speech: {}, // A machine may have made the agent say so.
  ...machines.get(outcome),
});

/** The longest answer that is kept, in characters. */
const maxAnswer = 1_000;

/** @throws {BadParametersException} */
const checkedAnswers = (given: unknown): readonly (readonly [name: string, value: string])[] =>
  Object.entries(fieldsOf(given)).map(([name, value]) => {
    if (!isAnswerName(name)) fail("answers", "must have names such as visit");
    if (typeof value === "string" && value.length <= maxAnswer) return [name, value];
    return fail("answers", `must be texts of at most ${maxAnswer} characters`);
  });

/** Keeps the name of an answer, or of a recording, when it first comes up. */
export const keepName = (sql: Sql, name: string, at: number): void =>
  void sql.all(
    "insert into outdial_answer_name (name, at) values (?, ?) on conflict do nothing",
    name,
    at,
  );

/** Writes the answers of an attempt: the same again changes nothing, and a later one takes its place. */
const writeAnswers = (
  sql: Sql,
  { contact, attempt }: { readonly contact: number; readonly attempt: number },
  answers: ReturnType<typeof checkedAnswers>,
  at: number,
): void => {
  for (const [name, value] of answers) {
    keepName(sql, name, at);
    sql.all(
      `insert into outdial_answer values (?, ?, ?, ?, ?)
       on conflict do update set value = excluded.value, at = excluded.at where value <> excluded.value`,
      contact,
      attempt,
      name,
      value,
      at,
    );
  }
};

/**
 * Records what a flow has learned: answers, and who took the call. Any number of times, also before the POST of the
 * call has its answer.
 *
 * @returns whether it was about an attempt of this campaign, once that is durable
 * @throws {BadParametersException} when an answer breaks its rule
 * @throws {LedgerException} `busy`
 */
export const recordInput = async (
  sql: Sql,
  { call, context, answers, digits, speech, answered_by, message }: CallInput,
  settings: ServiceSettings,
): Promise<boolean> => {
  const key = attemptIn(sql, context);
  if (!key || !isAtService(sql, key, settings.name)) return false;
  const checked = checkedAnswers(answers);
  return sql.commit(() => {
    const at = settings.clock();
    const { call_id } = call;
    const id = isText(call_id) && call_id ? call_id : null;
    if (!openAttempt(sql, key, id, at, settings)) return false;
    const contact = contactOf(sql, key.contact);
    if (contact && !isErased(contact)) writeAnswers(sql, key, checked, at);
    const person = (checked.length > 0 && !speech) || (isText(digits) && digits !== "");
    const news = {
      answered: at,
      answered_by: isText(answered_by) ? answered_by : undefined,
      ...{ person, message: message === "left" },
    };
    recordNews(sql, key, news, at, settings);
    return true;
  });
};

/** The name of an answer, and when it first came up, in milliseconds since 1970. */
export interface AnswerName {
  readonly name: string;
  readonly at: number;
}

/** The names of all answers and recordings, in the order in which they came up. */
export const answerNamesIn = (sql: Sql): readonly AnswerName[] =>
  sql
    .all("select name, at from outdial_answer_name order by place")
    .map(({ name, at }) => ({ name: String(name), at: Number(at) }));

/** The answers of some contacts; of a name that was answered in several attempts the last. */
export const answersOf = (
  sql: Sql,
  first: number,
  last: number,
): ReadonlyMap<number, Readonly<Record<string, string>>> => {
  const all = new Map<number, Record<string, string>>();
  const rows = sql.all(
    `select a.contact, a.name, value from outdial_answer a
     join outdial_answer_name n on n.name = a.name
     where a.contact between ? and ? order by a.contact, attempt, place`,
    first,
    last,
  );
  for (const { contact, name, value } of rows) {
    const own = all.get(Number(contact)) ?? {};
    own[String(name)] = String(value);
    all.set(Number(contact), own);
  }
  return all;
};
