import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEmulator, type EmulatorOptions } from "outdial/emulator";
import { serveNode } from "../../src/cli/serve.ts";
import { type Ended, outdial, type Running, start } from "../cli/cli.ts";
import { randomOf } from "../random.ts";

export interface SurveyChaos {
  readonly contacts: number;
  readonly kills: number;
  readonly seed: number;
  /** The name of a carrier. Without it the command speaks outdial's own interface. */
  readonly service?: string | undefined;
}

/** How many calls are live at once: so many are lost with a process that is killed. */
const concurrency = 6;

const script = fileURLToPath(new URL("../../examples/list/survey.ts", import.meta.url));

/** The accounts of the carriers. */
const accounts: Readonly<Record<string, string>> = {
  twilio: "AC0123456789abcdef0123456789abcdef",
  vonage: "78d335fa-323d-0114-9c3d-d6f0d48968cf",
  telnyx: "1234567890123456789",
};

const numberOf = (index: number): string => `+1303${5_550_000 + index}`;

/** The keys that somebody presses for both questions: never the same for both. */
const keysOf = (to_number: string) => {
  const index = Number(to_number.slice(-4));
  return { visit: String(1 + (index % 5)), price: String(1 + ((index + 2) % 5)) };
};

type Name = keyof ReturnType<typeof keysOf>;

/** What the script says once an answer to a question is in the ledger. */
const after: Readonly<Record<Name, string>> = { visit: "And the price?", price: "Thank you." };

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body;
};

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The tunnel between service and command: it stays while the processes behind it are killed. */
class Tunnel {
  /** Answers of which the service has learned that they are in the ledger. */
  readonly kept = new Map<string, Set<Name>>();
  readonly counts = { answers: 0, kept: 0, doubled: 0 };
  /** Where the latest process listens, once it says so. */
  receiver: Promise<string> = Promise.resolve("");
  readonly server: Server;
  readonly #random: () => number;
  readonly #arrivals = new EventTarget();
  #isOpen = true;

  constructor(random: () => number) {
    this.#random = random;
    this.server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
      const body = await bodyOf(request);
      const isNotified = request.method === "POST" && request.url?.includes("/status");
      const answered = await (isNotified ? this.#notify(request, body) : this.#ask(request, body));
      response.writeHead(answered?.status ?? 502, Object.fromEntries(answered?.headers ?? []));
      response.end(answered?.text);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Waits until so many answers were given. */
  answered(count: number): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (this.counts.answers < count) return;
        this.#arrivals.removeEventListener("answer", check);
        resolve();
      };
      this.#arrivals.addEventListener("answer", check);
      check();
    });
  }

  stop(): void {
    this.#isOpen = false;
    this.server.close();
    this.server.closeAllConnections();
  }

  async #forward({ method = "POST", url = "", headers }: IncomingMessage, body: string) {
    const { host: _, connection: __, "content-length": ___, ...sent } = headers;
    const init = { method, headers: sent as Record<string, string>, ...(body && { body }) };
    try {
      const response = await fetch((await this.receiver) + url, init);
      const type = response.headers.get("content-type") ?? "text/plain";
      return {
        status: response.status,
        headers: [["content-type", type]] as const,
        text: await response.text(),
      };
    } catch {
      return; // The process was killed.
    }
  }

  /** A flow request: nobody sends it again, but some twice. */
  async #ask(request: IncomingMessage, body: string) {
    const [, digit = ""] = /digits"?[=:]\s*"?(\d)/i.exec(body) ?? [];
    const [, number = ""] = /(?:\+|%2B|")(1303555\d{4})/i.exec(body) ?? [];
    const arrive = () => {
      this.counts.answers++;
      this.#arrivals.dispatchEvent(new Event("answer"));
    };
    // A process is killed when it gets an answer, or right after it has answered.
    const isBefore = this.#random() < 0.5;
    if (digit && isBefore) arrive();
    const isDoubled = this.#random() < 0.2;
    if (isDoubled) this.counts.doubled++;
    const [answered] = await Promise.all(
      Array.from({ length: isDoubled ? 2 : 1 }, () => this.#forward(request, body)),
    );
    if (digit && !isBefore) arrive();
    const keys = keysOf(number);
    for (const name of ["visit", "price"] as const) {
      if (!digit || keys[name] !== digit || !answered?.text.includes(after[name])) continue;
      this.counts.kept++;
      this.kept.set(`+${number}`, (this.kept.get(`+${number}`) ?? new Set()).add(name));
    }
    return answered;
  }

  /** A notification: it is sent again until somebody has taken it. */
  async #notify(request: IncomingMessage, body: string) {
    while (this.#isOpen) {
      const answered = await this.#forward(request, body);
      if (answered && answered.status < 500) return answered;
      await pause(50);
    }
    return;
  }
}

/** Kills in short order make the flows of 20 calls in a row fail: the command pauses, and begun again it dials on. */
const isPausedByKills = ({ stderr }: Ended): boolean =>
  stderr.includes("Paused: the flow of 20 calls in a row failed");

/** What must not be, as lines. */
function* faultsIn(
  results: readonly {
    readonly to_number: string;
    readonly disposition?: string;
    readonly answers: object;
  }[],
  { kept }: Tunnel,
): Generator<string> {
  for (const { to_number, disposition, answers } of results) {
    const keys: Readonly<Record<string, string>> = keysOf(to_number);
    const row = `${Number(to_number.slice(-4))}`;
    if (!disposition) yield `${row}: has not ended`;
    for (const name of kept.get(to_number) ?? []) {
      if (!Object.hasOwn(answers, name)) yield `${row}: ${name} was kept, and is lost`;
    }
    for (const [name, value] of Object.entries(answers)) {
      if (keys[name] !== value) yield `${row}: ${name} is ${value}, and ${keys[name]} was pressed`;
    }
  }
}

/**
 * Asks a list by a script, whose process is killed (`kill -9`) among the answers, again and again.
 *
 * @returns what must not be, as lines, and what happened
 */
export const survey = async ({ contacts, kills, seed, service }: SurveyChaos) => {
  const random = randomOf(seed);
  const folder = mkdtempSync(join(tmpdir(), "survey-"));
  const list = join(folder, "people.csv");
  const numbers = Array.from({ length: contacts }, (_, index) => numberOf(index));
  writeFileSync(list, `to_number\n${numbers.join("\n")}\n`);
  const tunnel = new Tunnel(random);
  const publicUrl = await tunnel.listen();
  const account = service === undefined ? undefined : accounts[service];
  if (service !== undefined && !account) throw new Error(`no survey is tried with ${service}`);
  const emulated: EmulatorOptions = account ? { service: { name: service ?? "", account } } : {};
  const emulator = createEmulator({
    ...emulated,
    ...{ host: "127.0.0.1", speed: 40, keep: 10 * contacts },
    callee: ({ to_number }) =>
      Object.values(keysOf(to_number)).flatMap(
        (digits) => [{ type: "until-prompt" }, { type: "press", digits }] as const,
      ),
  });
  const { port, stop } = await serveNode((request) => emulator.fetch(request), {
    ...{ hostname: "127.0.0.1", port: 0 },
  });
  const args = [
    ...["dial", list, "--script", script, "--from", "+12025550199", "--window", "always"],
    ...["--base-url", `http://127.0.0.1:${port}`, "--rate", "100"],
    ...["--concurrency", String(concurrency)],
    ...["--listen", "127.0.0.1:0", "--public-url", publicUrl, "--settle", "10s", "--yes"],
    ...(account
      ? ["--service", service ?? "", "--account", account, "--calls-per-second", "100"]
      : []),
  ];
  const env = {
    OUTDIAL_API_KEY: emulator.apiKey,
    SIGNING_SECRET: "a secret that was made at random",
    ...(service !== "twilio" && { OUTDIAL_SIGNATURE_SECRET: emulator.webhookSecret }),
  };
  const dial = (): Running => {
    const running = start("node", args, env);
    const local = /Notifications arrive at (\S+)/;
    tunnel.receiver = running.says(local).then(
      (text) => new URL(local.exec(text)?.[1] ?? "").origin,
      () => "", // It was killed first.
    );
    return running;
  };
  // Each contact gives two answers, and a kill takes those of the live calls: what is left is
  // enough for each kill to find the answer that it waits for.
  const certain = 2 * contacts - kills * 2 * concurrency;
  /** When the next process is killed: at one of the answers that are certain, by chance. */
  const nextKill = (killed: number): number => {
    if (killed === kills) return Number.POSITIVE_INFINITY;
    const left = Math.max(1, certain - tunnel.counts.answers) / (kills - killed);
    return tunnel.counts.answers + 1 + Math.floor(random() * left);
  };
  let killed = 0;
  let last: Ended;
  let isKilled: boolean;
  do {
    const running = dial();
    isKilled = await Promise.race([
      tunnel.answered(nextKill(killed)).then(() => true),
      running.ended.then(() => false),
    ]);
    if (isKilled) {
      killed++;
      running.kill("SIGKILL");
    }
    last = await running.ended;
  } while (isKilled || isPausedByKills(last));
  const { stdout } = await outdial("node", ["results", "--json", join(folder, "people.outdial")]);
  const results = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const faults = [...faultsIn(results, tunnel)];
  if (results.length !== contacts) faults.push(`${results.length} rows`);
  // Who may have been called when a process was killed is unknown (3), and flows fail while none runs (1).
  if (last.code !== 0 && last.code !== 1 && last.code !== 3)
    faults.push(`exit ${last.code}: ${last.stderr}`);
  for (const [number, posts] of emulator.posts) {
    if (posts > 1) faults.push(`${Number(number.slice(-4))}: ${posts} POSTs`);
  }
  tunnel.stop();
  await stop();
  emulator.reset();
  await emulator.close();
  rmSync(folder, { recursive: true });
  return { faults, summary: { service, contacts, kills, killed, seed, ...tunnel.counts } };
};
