import { expect, inject, test } from "vitest";
import { createMachineDetector, type Found } from "../../src/exchange/machine.ts";
import { type Answering, answerersOf } from "./answerers/answerers.ts";
import { framesOf } from "./telephone/ear.ts";

/** Who it is, frame by frame. */
const detect = (samples: Int16Array): Found | undefined => {
  const detector = createMachineDetector();
  for (const frame of framesOf(samples)) {
    const found = detector(frame);
    if (found) return found;
  }
  return undefined;
};

/** What was found of so many answerers. */
const findings = async (make: () => Promise<Answering>, count: number) => {
  const found: Record<string, number> = {};
  const wrong: string[] = [];
  for (let at = 0; at < count; at++) {
    const { name, samples } = await make();
    const answerer = detect(samples) ?? "nothing";
    found[answerer] = (found[answerer] ?? 0) + 1;
    wrong.push(`${answerer}: ${name}`);
  }
  return { found, wrong };
};

test("of 100 persons and 100 machines that were held out, 95 and 98 are known", async () => {
  const seed = Number(process.env.SEED ?? 20_261_128);
  const answerers = answerersOf(inject("exchange").speech, seed);
  const persons = await findings(answerers.person, 100);
  const machines = await findings(answerers.machine, 100);
  const apart = {
    "long first words": (await findings(answerers.longPerson, 20)).found,
    "pauses in a greeting": (await findings(answerers.pausing, 20)).found,
    "tones of the network": (await findings(answerers.network, 20)).found,
  };
  console.log(persons.found, machines.found, apart);
  console.log(persons.wrong.filter((one) => !one.startsWith("person")).join("\n"));
  console.log(machines.wrong.filter((one) => !one.startsWith("machine")).join("\n"));
  expect(persons.found.person).toBeGreaterThanOrEqual(95);
  expect(machines.found.machine).toBeGreaterThanOrEqual(98);
});
