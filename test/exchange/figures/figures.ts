// `npm run exchange -- figures`: measures at the telephone's ear, and writes the table of README. It wants a quiet machine.
import { fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startAsterisk } from "../asterisk/asterisk.ts";
import { isAudible, tone, voice } from "../telephone/ear.ts";
import type { Packet } from "../telephone/rtp.ts";
import { Telephone, type TelephoneCall } from "../telephone/telephone.ts";
import { compareWindows } from "./compare-windows.ts";
import type { Asked, Given, Told } from "./messages.ts";

const patience = 500;
const promptDuration = 25_000;
const recordDuration = Number(process.env.OUTDIAL_RECORD_MS ?? 300_000);
const [keyCalls, agentCalls, cycles] = [4, 6, 20];
const stallMs = 400;

const root = process.env.OUTDIAL_ASTERISK ?? "";
const asterisk = await startAsterisk({ root, temporary: tmpdir() });
const telephone = await Telephone.open();
const recording = join(tmpdir(), `recording-${process.pid}.wav`);
const { url, user, password } = asterisk;
const given: Given = {
  asterisk: { url, user, password },
  telephone: `${telephone.address}:${telephone.port}`,
  ...{ patience, promptDuration, recordDuration, recording },
};
const gateway = fork(fileURLToPath(new URL("gateway.ts", import.meta.url)), {
  env: { ...process.env, GATEWAY: JSON.stringify(given) },
});
gateway.on("exit", (code) => code && process.exit(1));
const ask = (asked: Asked): void => void gateway.send(asked);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** What the gateway has told, with what waits for it. */
const told: Told[] = [];
gateway.on("message", (one: Told) => told.push(one));
const until = async (condition: () => boolean, timeout = 60_000): Promise<boolean> => {
  for (const end = performance.now() + timeout; !condition(); await pause(5)) {
    if (performance.now() > end) return false;
  }
  return true;
};
const tells = (type: Told["type"], timeout: number) =>
  until(() => told.some((one) => one.type === type), timeout);

let numbers = 0;
const coming = new Map<string, (call: TelephoneCall) => void>();
telephone.behave(async (call) => {
  call.ring();
  await call.answer();
  coming.get(call.to)?.(call);
});

/** Places a call, and returns it once it is answered. */
const place = (flow: string): Promise<TelephoneCall> => {
  const to = `+1202555${String(1_000 + numbers++)}`;
  const answered = new Promise<TelephoneCall>((resolve) => coming.set(to, resolve));
  ask({ type: "call", to, flow });
  return answered;
};

const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other);
  return Math.round(
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN,
  );
};
const p = (values: readonly number[], ...shares: readonly number[]): string =>
  values.length === 0
    ? "nothing"
    : `${shares.map((share) => percentile(values, share)).join(" / ")} ms (n = ${values.length})`;

const audible = (packets: readonly Packet[], from: number, to = Number.POSITIVE_INFINITY) =>
  packets.filter(({ at, samples }) => at >= from && at < to && isAudible(samples));

/** Keys: from the first packet of one to the first of the answer. */
const measureKeys = async (): Promise<readonly number[]> => {
  const found: number[] = [];
  const calls = await Promise.all(Array.from({ length: keyCalls }, () => place("keys")));
  const press = async (call: TelephoneCall): Promise<void> => {
    await pause(800);
    for (let count = 0; count < cycles && !call.isOver; count++) {
      const begin = await call.press("1");
      await until(() => audible(call.packets, begin).length > 0, 5_000);
      const first = audible(call.packets, begin)[0];
      if (first) found.push(first.at - begin);
      await pause(500 + Math.random() * 100);
    }
    call.hangUp();
  };
  await Promise.all(calls.map(press));
  return found;
};

/** What is measured of agents. */
interface AgentFigures {
  readonly responses: number[];
  readonly stops: number[];
  readonly truncations: number[];
}

/** Says a word of 600 ms; returns when its first packet left, and its last one. */
const say = async (
  call: TelephoneCall,
): Promise<{ readonly begin: number; readonly end: number }> => {
  const word = tone(440, 600);
  const [beginning, last] = [
    call.speak(word.subarray(0, 580 * 8)),
    call.speak(word.subarray(580 * 8)),
  ];
  return { begin: await beginning, end: await last };
};

/** Talks with an agent: interrupts each of its responses after a while. */
const talk = async (
  call: TelephoneCall,
  id: string,
  count: number,
  figures: AgentFigures,
  interruptAfter: (begin: number) => Promise<unknown>,
): Promise<void> => {
  await pause(1_500);
  let { end } = await say(call);
  for (let at = 0; at < count && !call.isOver; at++) {
    await until(() => audible(call.packets, end).length > 0, 5_000);
    const first = audible(call.packets, end)[0];
    if (!first) return;
    figures.responses.push(first.at - end - patience);
    await interruptAfter(first.at);
    const known = told.length;
    const next = await say(call);
    const played = audible(call.packets, end, next.end + patience / 2);
    figures.stops.push(Math.max(0, (played.at(-1)?.at ?? 0) - next.begin));
    const cut = told.slice(known).find((one) => one.type === "cut" && one.id === id);
    if (cut?.type === "cut") figures.truncations.push(Math.abs(cut.played - 20 * played.length));
    end = next.end;
  }
};

const newFigures = (): AgentFigures => ({ responses: [], stops: [], truncations: [] });

const openAgents = async (count: number) => {
  const calls = await Promise.all(Array.from({ length: count }, () => place("agent")));
  await until(() =>
    calls.every((call) => told.some((one) => one.type === "placed" && one.to === call.to)),
  );
  return calls.map((call) => {
    const placed = told.find((one) => one.type === "placed" && one.to === call.to);
    return { call, id: placed?.type === "placed" ? placed.id : "" };
  });
};

const measureAgents = async (): Promise<AgentFigures> => {
  const figures = newFigures();
  const agents = await openAgents(agentCalls);
  await Promise.all(
    agents.map(({ call, id }) =>
      talk(call, id, cycles, figures, () => pause(400 + Math.random() * 400)),
    ),
  );
  for (const { call } of agents) call.hangUp();
  return figures;
};

/** The same, with a stall of the gateway in each response: the interruption comes a while after it. */
const measureStalls = async (after: number): Promise<AgentFigures> => {
  const figures = newFigures();
  const agents = await openAgents(agentCalls);
  let stallEnd = 0;
  let waiting: (() => void)[] = [];
  const meet = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length < agents.length) return;
      const all = waiting;
      waiting = [];
      setTimeout(() => {
        stallEnd = performance.now() + stallMs;
        ask({ type: "stall", ms: stallMs });
        for (const go of all) go();
      }, 500);
    });
  await Promise.all(
    agents.map(({ call, id }) =>
      talk(call, id, 5, figures, async () => {
        await meet();
        await pause(stallEnd + after + Math.random() * 200 - performance.now());
      }),
    ),
  );
  for (const { call } of agents) call.hangUp();
  return figures;
};

/** The gaps between the packets of many calls at once. */
const measureLoad = async (flow: string, count: number): Promise<readonly number[]> => {
  const calls: TelephoneCall[] = [];
  for (let at = 0; at < count; at++) {
    place(flow).then((call) => {
      // The callee is silent: what they would send has no part in it.
      call.mute();
      calls.push(call);
    });
    await pause(50);
  }
  await until(() => calls.length === count, 20_000);
  await pause(2_000);
  const [from, to] = [performance.now(), performance.now() + 10_000];
  await pause(to - from);
  const gaps = calls.flatMap((call) => {
    const packets = call.packets.filter(({ at }) => at >= from && at < to);
    return packets.slice(1).map(({ at }, index) => at - (packets[index]?.at ?? at));
  });
  for (const call of calls) call.hangUp();
  await pause(1_000);
  return gaps;
};

const measureRecording = async (): Promise<string> => {
  const call = await place("recorded");
  const mine = voice(2, recordDuration);
  await call.speak(mine);
  await tells("recorded", recordDuration + 60_000);
  const { heard, said } = compareWindows(readFileSync(recording), call.packets, mine);
  return `heard: ${heard}; said: ${said}`;
};

await tells("ready", 60_000);
const load = () => loadavg()[0]?.toFixed(1) ?? "";
const rows: (readonly [what: string, wanted: string, found: string])[] = [];
const add = (what: string, wanted: string, found: string): void => {
  rows.push([what, wanted, `${found}, load ${load()}`]);
  console.log(`${what}: ${found} (wanted ${wanted}), load ${load()}`);
};
const agentRows = (
  name: string,
  { responses, stops, truncations }: AgentFigures,
  wanted: string,
  cut: string,
) => {
  add(`${name}: response − patience, p50 / p95 / max`, wanted, p(responses, 0.5, 0.95, 1));
  add(
    `${name}: last packet after the callee's first word, p50 / p95 / max`,
    wanted,
    p(stops, 0.5, 0.95, 1),
  );
  add(
    `${name}: played, as the model is told, against the ear, p50 / p95 / max`,
    cut,
    p(truncations, 0.5, 0.95, 1),
  );
};

const recorded = recordDuration > 0 ? measureRecording() : Promise.resolve("not measured");
add(
  "a key's first packet to the first sound of a WAV, p50 / p95 / max",
  "p95 ≤ 180 ms",
  p(await measureKeys(), 0.5, 0.95, 1),
);
agentRows("agent", await measureAgents(), "p50 ≤ 50, p95 ≤ 60 ms", "≤ 20 ms");
for (const count of [150]) {
  add(
    `${count} prompts at once, gap p50 / p99 / p99.9`,
    "p99 ≤ 40, p99.9 ≤ 80 ms",
    p(await measureLoad("prompt", count), 0.5, 0.99, 0.999),
  );
}
for (const count of [100]) {
  add(
    `${count} agents at once, gap p50 / p99 / p99.9`,
    "p99 ≤ 40 ms",
    p(await measureLoad("agent", count), 0.5, 0.99, 0.999),
  );
}
add(
  `recording against the ear, ${recordDuration / 1_000} s, windows of 2 s`,
  "correlation ≥ 0.99, lag ± 40 ms",
  await recorded,
);
agentRows(
  "0.3 to 0.5 s after a stall of 400 ms",
  await measureStalls(300),
  "p95 ≤ 110 ms",
  "≤ 60 ms",
);
agentRows(
  "1 to 1.2 s after a stall of 400 ms",
  await measureStalls(1_000),
  "p95 ≤ 70 ms",
  "≤ 60 ms",
);

const readme = fileURLToPath(new URL("../README.md", import.meta.url));
const text = readFileSync(readme, "utf8");
const mark = "<!-- figures -->";
const table = [
  `Measured on ${new Date().toISOString().slice(0, 10)}, Asterisk, exchange and telephones on ${cpus().length} cores, by \`npm run exchange -- figures\`; the load is that of the minute before.`,
  "",
  "| what | wanted | found |",
  "|---|---|---|",
  ...rows.map((row) => `| ${row.join(" | ")} |`),
].join("\n");
const [before = "", , after = ""] = text.split(mark);
writeFileSync(readme, `${before}${mark}\n${table}\n${mark}${after}`);
ask({ type: "end" });
telephone.close();
await asterisk.stop();
process.exit(0);
