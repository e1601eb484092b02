import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { invoke, outdial } from "../cli/cli.ts";
import { newFolder } from "../cli/emulate.ts";
import { path } from "../examples/execute.ts";
import { accountSid, authToken } from "../twilio/stage.ts";
import { from, hears, openServedStage, spoken } from "./stage.ts";
import type { TelephoneCall } from "./telephone/telephone.ts";

/** Somebody on the list: what they do once they have heard each question, or how the telephone refuses. */
interface Person {
  readonly does: readonly string[] | number | "rings";
  readonly disposition: string;
  readonly visit?: string;
  readonly price?: string;
}

const people: readonly Person[] = [
  { does: ["visit 5", "price 4"], disposition: "completed", visit: "5", price: "4" },
  { does: ["visit 3", "price hangup"], disposition: "completed", visit: "3" },
  { does: ["visit 7", "visit 2", "price 1"], disposition: "completed", visit: "2", price: "1" },
  { does: ["visit", "visit"], disposition: "completed" },
  { does: ["visit 9"], disposition: "completed", visit: "9" },
  { does: ["hangup"], disposition: "completed" },
  { does: 486, disposition: "busy" },
  { does: "rings", disposition: "no_answer" },
  { does: 603, disposition: "rejected" },
  { does: 404, disposition: "unreachable" },
];

const count = 50;
const numberOf = (at: number): string => `+1202556${String(1_000 + at)}`;
const personOf = (number: string): Person =>
  people[(Number(number.slice(-4)) - 1_000) % people.length] ?? expect.fail(number);

const questions = {
  visit: "How was your visit? From 1 to 5; 9 for no more calls.",
  price: "And the price? From 1 to 5; 9 for no more calls.",
} as const;

/** Hears the questions, and answers each. */
const talk = async (call: TelephoneCall, acts: readonly string[]): Promise<void> => {
  let next = 0;
  for (const act of acts) {
    const [question, key] = act.split(" ");
    if (question === "visit" || question === "price") {
      ({ next } = await hears(call, await spoken(questions[question]), 0.9, next));
    }
    if (key === "hangup" || question === "hangup") call.hangUp();
    else if (key) await call.press(key);
  }
};

const secret = "a secret that was made at random";

test.each([
  { name: "own", service: undefined },
  { name: "twilio", service: { name: "twilio", account: accountSid } },
])(
  "a survey of 50 contacts by outdial dial --script is heard and answered by telephones: $name",
  async ({ name, service }) => {
    const { exchange, telephone, baseUrl } = await openServedStage({
      answerTimeout: 20_000,
      ...(service && { service, apiKey: authToken }),
    });
    const talks: Promise<void>[] = [];
    telephone.behave((call) => {
      const { does } = personOf(call.to);
      if (typeof does === "number") {
        call.refuse(does);
        return;
      }
      call.ring();
      if (does !== "rings") talks.push(call.answer().then(() => talk(call, does)));
    });
    const folder = newFolder();
    const numbers = Array.from({ length: count }, (_, at) => numberOf(at));
    const list = ["to_number,id", ...numbers.map((number, at) => `${number},${at}`)].join("\n");
    writeFileSync(join(folder, "people.csv"), list);
    const optOuts = join(folder, "opt-outs.txt");
    const carrier = ["--service", name, "--account", accountSid, "--calls-per-second", "20"];
    const { code, stderr } = await outdial(
      "node",
      [
        ...["dial", join(folder, "people.csv"), "--script", path("examples/list/survey.ts")],
        ...["--from", from, "--listen", "127.0.0.1:0", "--window", "always", "--yes"],
        ...["--rate", "20", "--concurrency", "25", "--opt-outs", optOuts],
        ...(service ? carrier : []),
      ],
      {
        OUTDIAL_BASE_URL: baseUrl,
        OUTDIAL_API_KEY: exchange.apiKey,
        SIGNING_SECRET: secret,
      },
    );
    expect(code, stderr).toBe(0);
    await Promise.all(talks);
    expect(telephone.calls.map(({ to }) => to).sort()).toEqual(numbers);
    const { stdout } = await invoke(["results", join(folder, "people.outdial")]);
    const [header = [], ...rows] = stdout
      .trimEnd()
      .split("\r\n")
      .map((row) => row.split(","));
    const contacts = rows.map((cells) =>
      Object.fromEntries(header.map((column, at) => [column, cells[at]])),
    );
    const wanted = ["to_number", "disposition", "visit", "price"] as const;
    expect(
      contacts.map((contact) => Object.fromEntries(wanted.map((key) => [key, contact[key]]))),
    ).toEqual(
      numbers.map((to_number) => {
        const { disposition, visit = "", price = "" } = personOf(to_number);
        return { to_number, disposition, visit, price };
      }),
    );
    const out = numbers.filter((number) => personOf(number).visit === "9");
    expect(readFileSync(optOuts, "utf8").trimEnd().split("\n").sort()).toEqual(out);
  },
  // As long as fifty calls take on a machine that others use, too.
  400_000,
);
