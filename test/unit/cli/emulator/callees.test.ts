import { expect, onTestFinished, test } from "vitest";
import { calleesIn } from "../../../../src/cli/dial/emulation/callees.ts";
import { calleesOf } from "../../../../src/cli/emulator/callees.ts";
import { createEmulator } from "../../../../src/emulator/index.ts";
import { Client } from "../../../../src/index.ts";

const question = {
  action: "gather",
  prompts: [{ text: "1?" }],
  digits: 1,
  flow_url: "https://app.test/flow",
};

/** How many calls at an emulator ended in each way, and what was pressed in each. */
const placed = async (shares: string, seed: number, count: number) => {
  const emulator = createEmulator({
    ...calleesOf(calleesIn(shares), seed),
    clock: "instant",
    fetch: async (request) => {
      if (!request.url.endsWith("/flow")) return new Response();
      const { digits } = await request.json();
      // A second question after the first answer, and then the end.
      return Response.json(digits === "5" || digits === "" ? { action: "hangup" } : question);
    },
  });
  onTestFinished(() => emulator.close());
  const client = new Client(emulator.apiKey, { baseUrl: "https://e.test", fetch: emulator.fetch });
  const calls = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const { id } = await client.calls.create({
        from_number: "+12025550199",
        to_number: `+1202556${1_000 + at}`,
        flow_url: "https://app.test/flow",
        status_callback_url: "https://app.test/status",
      });
      const { reason, history } = await emulator.ended(id);
      const keys = history.flatMap((entry) => (entry.type === "press" ? [entry.digit] : []));
      return `${reason} ${keys.join("")}`;
    }),
  );
  return calls;
};

test("calls that are placed at a port are answered, pressed and refused in shares", async () => {
  const calls = await placed("busy=25%,press=4/5:50%", 1, 200);
  const count = (how: string) => calls.filter((one) => one === how).length;
  expect(count("busy ") + count("normal 45") + count("normal ")).toBe(200);
  expect(count("busy ")).toBeGreaterThan(30);
  expect(count("busy ")).toBeLessThan(70);
  expect(count("normal 45")).toBeGreaterThan(70);
  expect(count("normal 45")).toBeLessThan(130);
});

test("a seed gives each number the same again, and another seed something else", async () => {
  const first = await placed("busy=50%", 7, 20);
  expect(await placed("busy=50%", 7, 20)).toEqual(first);
  expect(await placed("busy=50%", 8, 20)).not.toEqual(first);
});

test("whoever is asked for ever hangs up", async () => {
  const [call] = await placed("press=1:100%", 1, 1);
  expect(call).toBe(`normal ${"1".repeat(20)}`);
});
