import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CalleeAct, CalleeCall, EmulatorOptions, Outcome } from "../../src/emulator/index.ts";
import { carriers } from "../carriers/carriers.ts";
import { startEmulator } from "../carriers/stage.ts";
import { path } from "../examples/execute.ts";
import { invoke, outdial } from "./cli.ts";
import { newFolder } from "./emulate.ts";

/** Somebody on the list: what the telephone does, and what the row of the results has. */
interface Person {
  readonly outcome?: Outcome;
  /** The keys for each question; `""` is silence. */
  readonly keys?: readonly string[];
  readonly disposition: string;
  readonly reason?: string;
  readonly visit?: string;
  readonly price?: string;
  /** Whether it is a machine, where the carrier finds that out. */
  readonly machine?: "machine" | "message_left";
}

const people: readonly Person[] = [
  { keys: ["5", "4"], disposition: "completed", visit: "5", price: "4" },
  { keys: ["3", "hangup"], disposition: "completed", visit: "3" },
  { keys: ["7", "2", "1"], disposition: "completed", visit: "2", price: "1" },
  { keys: [], disposition: "completed" },
  { keys: ["9"], disposition: "completed", visit: "9" },
  {
    outcome: { outcome: "answer", answeredBy: "machine" },
    disposition: "completed",
    machine: "message_left",
  },
  {
    outcome: { outcome: "answer", answeredBy: "machine", hangUpAfter: 6_000 },
    disposition: "completed",
    machine: "machine",
  },
  { outcome: { outcome: "busy" }, disposition: "busy" },
  { outcome: { outcome: "no_answer" }, disposition: "no_answer" },
  { outcome: { outcome: "reject" }, disposition: "rejected" },
];

const numberOf = (at: number): string => `+1202556${String(1_000 + at)}`;
const personAt = (to_number: string): Person =>
  people[(Number(to_number.slice(-4)) - 1_000) % people.length] ?? expect.fail(to_number);

const actsOf = ({ keys = [] }: Person): readonly CalleeAct[] =>
  keys.flatMap((keys): readonly CalleeAct[] => [
    { type: "until-prompt" },
    keys === "hangup" ? { type: "hangup" } : { type: "press", digits: keys },
  ]);

const secret = "a secret that was made at random";

/** A service as the command reaches it. */
interface Reached {
  readonly name: string;
  readonly emulated: EmulatorOptions;
  readonly account?: string;
  /** What it says of a person, and of a machine whose greeting is over. */
  readonly human?: string;
  readonly beep?: string;
}

const services: readonly Reached[] = [
  { name: "own", emulated: {} },
  ...carriers.map(({ name, emulated, service: { account } }) => ({
    ...{ name, emulated, account, human: "human", beep: "machine_end_beep" },
  })),
];

/** Runs `outdial dial --script` with a service on a port of this machine, and returns what it leaves. */
const dial = async (
  { name, emulated, account }: Reached,
  script: string,
  list: string,
  flags: readonly string[],
  callee = ({ to_number }: CalleeCall) => actsOf(personAt(to_number)),
) => {
  const folder = newFolder();
  const { emulator, baseUrl } = await startEmulator({
    ...emulated,
    onCall: ({ to_number }) => personAt(to_number).outcome,
    callee,
  });
  writeFileSync(join(folder, "people.csv"), list);
  const env = {
    OUTDIAL_API_KEY: emulator.apiKey,
    SIGNING_SECRET: secret,
    ...(name !== "twilio" && { OUTDIAL_SIGNATURE_SECRET: emulator.webhookSecret }),
  };
  const carrier = ["--service", name, "--account", account ?? "", "--calls-per-second", "200"];
  // Built, and under Node, which strips the types of the script.
  const { code, stderr } = await outdial(
    "node",
    [
      ...["dial", join(folder, "people.csv"), "--script", path(script), "--from", "+12025550199"],
      ...["--base-url", baseUrl, "--listen", "127.0.0.1:0", "--window", "always", "--yes"],
      ...["--rate", "200", ...(account ? carrier : []), ...flags],
    ],
    env,
  );
  const { stdout } = await invoke(["results", join(folder, "people.outdial")]);
  const rows = stdout
    .trimEnd()
    .split("\r\n")
    .map((row) => row.split(","));
  return { folder, code, stderr, rows, emulator };
};

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

test.each(services)("a survey of 50 by a script of 20 lines: $name", async (service) => {
  const numbers = Array.from({ length: 50 }, (_, at) => numberOf(at));
  const list = ["to_number,id", ...numbers.map((number, at) => `${number},${at}`)].join("\n");
  const optOuts = join(newFolder(), "opt-outs.txt");
  const { code, stderr, rows } = await dial(service, "examples/list/survey.ts", list, [
    ...["--opt-outs", optOuts],
  ]);
  expect(code, stderr).toBe(0);
  const columns =
    "to_number,id,disposition,reason,attempts,call_id,started_at,ended_at,duration,answered_by,cost,currency,recordings";
  expect(rows[0]?.slice(0, 13).join()).toBe(columns);
  expect(rows[0]?.slice(13).sort()).toEqual(["price", "visit"]);
  const [header = [], ...contacts] = rows;
  expect(contacts).toHaveLength(50);
  for (const [at, cells] of contacts.entries()) {
    const row = Object.fromEntries(header.map((name, column) => [name, cells[column]]));
    const { disposition, machine, outcome, visit = "", price = "" } = personAt(numberOf(at));
    const isDetected = machine && service.beep !== undefined;
    const isAnswered = disposition === "completed";
    const answered_by = isAnswered ? (machine ? service.beep : service.human) : undefined;
    expect(row, `row ${at}: ${JSON.stringify(outcome ?? {})}`).toEqual({
      ...{ to_number: numberOf(at), id: String(at), reason: expect.any(String), attempts: "1" },
      disposition: isDetected ? machine : disposition,
      call_id: expect.stringMatching(/^\S{8,}$/),
      started_at: expect.stringMatching(time),
      ended_at: expect.stringMatching(time),
      duration: isAnswered ? expect.stringMatching(/^\d+$/) : "",
      ...{ answered_by: answered_by ?? "", visit, price, currency: "", recordings: "" },
      // Vonage alone notifies of it. Its notification of a call that nobody answered may come after the end.
      cost: service.name === "vonage" ? expect.stringMatching(isAnswered ? /^0$/ : /^0?$/) : "",
    });
  }
  const out = numbers.filter((number) => personAt(number).visit === "9");
  expect(readFileSync(optOuts, "utf8").trimEnd().split("\n").sort()).toEqual(out);
});

test.each(services)("an alert ends with who acknowledges it: $name", async (service) => {
  // A machine, somebody who presses nothing, somebody who acknowledges, and one more.
  const numbers = [5, 3, 10, 20].map(numberOf);
  const keysOf = new Map([[numberOf(10), ["4"]]]);
  const list = ["to_number,id", ...numbers.map((number, at) => `${number},on-call ${at}`)].join(
    "\n",
  );
  const { code, stderr, rows, emulator } = await dial(
    service,
    "examples/list/alert.ts",
    list,
    ["--concurrency", "1"],
    ({ to_number }) => actsOf({ keys: keysOf.get(to_number) ?? [], disposition: "" }),
  );
  expect(code, stderr).toBe(0);
  expect([...emulator.posts.keys()]).toEqual(numbers.slice(0, 3));
  const machine = service.beep ? "machine" : "completed";
  expect(rows.slice(1).map((cells) => cells[2])).toEqual([
    machine,
    "completed",
    "completed",
    "canceled",
  ]);
  expect(rows.map((cells) => cells[13])).toEqual(["ack", "", "", "4", ""]);
});
