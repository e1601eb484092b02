import { expect, it } from "vitest";
import { createEmulator, type Outcome } from "../../../src/emulator/index.ts";

const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

/** How long a telephone rings that does this, in seconds, and what comes of it. */
const rings = async (outcome: Outcome) => {
  const emulator = createEmulator({
    clock: "instant",
    answerTimeout: 20_000,
    onCall: () => outcome,
    fetch: () => new Response(),
  });
  const response = await emulator.fetch("https://emulator.test/api/v1/calls/initiate", {
    method: "POST",
    headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
    body: JSON.stringify(params),
  });
  const { reason, answered_at, ended_at, initiated_at } = await emulator.ended(
    (await response.json()).data.id,
  );
  return [reason, ((answered_at ?? ended_at ?? 0) - initiated_at) / 1000];
};

it("nobody answers within the time that a call may ring, or within the one that is said", async () => {
  expect(await rings({ outcome: "no_answer" })).toEqual(["no_answer", 20]);
  expect(await rings({ outcome: "no_answer", ringDuration: 90_000 })).toEqual(["no_answer", 90]);
  expect(await rings({ outcome: "no_answer", ringDuration: 3_000 })).toEqual(["no_answer", 3]);
});

it("who answers or rejects later than a call may ring does not", async () => {
  expect(await rings({ outcome: "answer", ringDuration: 90_000 })).toEqual(["no_answer", 20]);
  expect(await rings({ outcome: "reject", ringDuration: 90_000 })).toEqual(["no_answer", 20]);
  expect(await rings({ outcome: "reject", ringDuration: 5_000 })).toEqual(["rejected", 5]);
});
