import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { type CalleeScript, type ScriptedAnswer, simulateCall } from "outdial/testing";
import { beforeAll, expect, test, vi } from "vitest";
import { voice as voiceOf } from "../conformance/models/voice.ts";
import { randomOf } from "../random.ts";
import { path } from "./execute.ts";
import { ofMarkdown } from "./extract.ts";

const folder = path("test/artefacts/programs");
const voice = { audio: voiceOf(1_500, randomOf(1)), sampleRate: 8_000 };

/** The programs with which docs/agents.md begins: what each gives its readers, and what the agent does in a call. */
const programs: readonly (readonly [given: string, answers: readonly ScriptedAnswer[]])[] = [
  ["disclose", [{ ms: 1_000 }]],
  ["remind", [{ tool: "leave_voicemail", args: {} }, { ms: 1_500 }]],
  ["desk, decided", [{ ms: 800 }, { tool: "transfer", args: { target: "billing" } }]],
  ["navigate", [{ tool: "press_keys", args: { keys: "2#" } }]],
  ["ask", []],
];

beforeAll(() => {
  vi.stubEnv("SIGNING_SECRET", crypto.randomUUID());
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const blocks = ofMarkdown("docs/agents.md").filter(({ language }) => language === "ts");
  for (const [at, [given, answers]] of programs.entries()) {
    // Without a model: a scripted agent with the program's tools.
    const scripted = `const scripted = ({ tools }) => ({ ...scriptedAgent(${JSON.stringify(answers)}), tools });`;
    const code = blocks[at]?.code.replace(/(openaiRealtime|gemini)\(/, "scripted(");
    const file = `import { scriptedAgent } from "outdial/testing";\n${scripted}\n${code}\nexport { ${given} };`;
    writeFileSync(`${folder}/${at + 1}.ts`, file);
  }
});

/** A simulated call with one of the programs, and what the session's end has. */
const callWith = async (
  number: number,
  serve: (program: Record<string, CallableFunction>, socket: unknown) => { ended: Promise<object> },
  caller: CalleeScript,
) => {
  const program = await import(`${folder}/${number}.ts`);
  const ends: Promise<object>[] = [];
  await simulateCall({ caller, app: (socket) => void ends.push(serve(program, socket).ended) });
  return { program, end: await ends[0] };
};

test("1: the disclosure is heard to its end though the callee speaks", async () => {
  const audio = new Int16Array(16_000).fill(5_000);
  const { end } = await callWith(
    1,
    ({ disclose }, socket) => disclose?.(socket, audio),
    function* () {
      yield { type: "say", voice };
      yield { type: "until", ms: 5_000 };
      yield { type: "hangup" };
    },
  );
  expect(end).toMatchObject({ reason: "hung_up", opening: { played: 1_000, duration: 1_000 } });
});

test("2: a message is left after the beep", async () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const { end } = await callWith(
    2,
    ({ remind }, socket) => remind?.(socket),
    function* () {
      yield { type: "say", voice };
      yield { type: "silence", ms: 900 };
      yield { type: "tone", hertz: 1_000, ms: 300 };
      yield { type: "until", ms: 20_000 };
    },
  );
  expect(end).toMatchObject({ reason: "left", outcome: "message_left" });
  expect(log).toHaveBeenCalledExactlyOnceWith("message_left");
  log.mockRestore();
});

test("3: the flow has the number of the named target", async () => {
  const { program, end } = await callWith(
    3,
    ({ desk }, socket) => desk?.(socket),
    function* () {
      yield { type: "until-quiet" };
      yield { type: "say", voice };
      yield { type: "until", ms: 9_000 };
    },
  );
  expect(end).toMatchObject({ reason: "left", outcome: "transferred" });
  const dial = { action: "dial", to: "+12025550100", timeout: 20 };
  expect([...program.decided.values()]).toEqual([dial]);
});

test("4: the menu hears the keys", async () => {
  const heard: string[] = [];
  await callWith(
    4,
    ({ navigate }, socket) => navigate?.(socket),
    async function* (call) {
      yield { type: "say", voice };
      yield { type: "until-keys", keys: "2#" };
      heard.push(call.keys);
      yield { type: "hangup" };
    },
  );
  expect(heard).toEqual(["2#"]);
});

test("5: a quiet callee is asked twice, and then the call ends", async () => {
  const { scriptedAgent } = await import("outdial/testing");
  const agent = scriptedAgent([{ ms: 800 }, { ms: 700 }, { ms: 600 }, { ms: 500 }]);
  const { end } = await callWith(
    5,
    ({ ask }, socket) => ask?.(socket, [agent]),
    () => [{ type: "until", ms: 60_000 }],
  );
  expect(end).toMatchObject({ reason: "left", outcome: "gave_up" });
});
