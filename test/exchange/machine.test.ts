import { expect, inject, test } from "vitest";
import { createMachineDetector, type Found } from "../../src/exchange/machine.ts";
import { accountSid, authToken, clientFor, startApplication } from "../twilio/stage.ts";
import { type Answering, answerersOf } from "./answerers/answerers.ts";
import { from, openServedStage, to, until } from "./stage.ts";
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
  for (let at = 0; at < count; at++) {
    const { samples } = await make();
    const answerer = detect(samples) ?? "nothing";
    found[answerer] = (found[answerer] ?? 0) + 1;
  }
  return { found };
};

test("of 100 persons and 100 machines that were held out, 95 and 98 are known", async () => {
  const answerers = answerersOf(inject("exchange").speech, 20_261_128);
  const persons = await findings(answerers.person, 100);
  const machines = await findings(answerers.machine, 100);
  // Apart, as nobody can know them by their sound alone.
  const apart = {
    "long first words": (await findings(answerers.longPerson, 20)).found,
    "pauses in a greeting": (await findings(answerers.pausing, 20)).found,
    "tones of the network": (await findings(answerers.network, 20)).found,
  };
  console.log(persons.found, machines.found, apart);
  expect(persons.found.person).toBeGreaterThanOrEqual(95);
  expect(machines.found.machine).toBeGreaterThanOrEqual(98);
}, 300_000);

test.each([
  ["person", "human"],
  ["machine", "machine_end_beep"],
] as const)(
  "Twilio's MachineDetection at a telephone that a %s answers: %s",
  async (kind, found) => {
    const service = { name: "twilio", account: accountSid };
    const { baseUrl, telephone } = await openServedStage({ service, apiKey: authToken });
    const app = await startApplication({ "/voice": "<Response><Hangup/></Response>" });
    const ringing = telephone.next();
    await clientFor(baseUrl).calls.create({
      ...{ from, to, url: `${app.origin}/voice`, machineDetection: "DetectMessageEnd" },
    });
    const call = await ringing;
    call.ring();
    await call.answer();
    const { samples } = await answerersOf(inject("exchange").speech, 7)[kind]();
    // The media of a telephone is connected in the moment after its answer.
    await until(() => call.packets.length > 0);
    await call.speak(samples);
    expect(await call.ended).toBe("caller");
    expect(app.at("/voice")).toMatchObject([{ AnsweredBy: found }]);
  },
);
