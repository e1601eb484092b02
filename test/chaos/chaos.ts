import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { outdial, type Running, type Runtime, start } from "../cli/cli.ts";
import { randomOf } from "../random.ts";
import { interfaces } from "./interface.ts";
import { faultsIn, rowsOf } from "./judge.ts";
import { numberOf } from "./oddities.ts";
import { Postman } from "./postman.ts";
import { startService } from "./service.ts";

export interface Chaos {
  readonly contacts: number;
  readonly kills: number;
  readonly seed: number;
  readonly runtimes: readonly Runtime[];
  /** The name of a carrier. Without it the command speaks outdial's own interface. */
  readonly service?: string | undefined;
  /** Whether the list is dialled by two services of outdial's own interface, the first of which is down for a while. */
  readonly several?: boolean | undefined;
}

const preload = fileURLToPath(new URL("shift.js", import.meta.url));

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Each word of the command but the list's and the ports'. */
const flags = ["--flow", "http://127.0.0.1:9/flow", "--window", "always"];

const receiverLine = /Notifications arrive at (\S+)/;

/** The most POSTs between the start of a process and its end. */
const killAfter = 40;

const limits = ["--attempts", "2", "--retry-on", "busy"];

const alone = ["--from", "+12025550199", "--rate", "250", "--concurrency", "200"];

const waits = ["--retry-after", "1s", "--settle", "20s", "--no-record", "--yes", "--json"];

/**
 * Dials a list through every mishap: `kill -9` at random moments, two processes at once, a clock that is
 * set back, notifications doubled, late, out of order and lost, a service that answers oddly; with two services, each forges
 * notifications of the other's attempts.
 *
 * @returns what must not be, as lines, and what happened
 */
export const chaos = async ({
  contacts,
  kills,
  seed,
  runtimes,
  service: name = "outdial",
  several = false,
}: Chaos) => {
  const spoken = interfaces[name]?.();
  if (!spoken) throw new Error(`outdial dial is not tried with ${name}`);
  const random = randomOf(seed);
  const folder = mkdtempSync(join(tmpdir(), "chaos-"));
  const list = join(folder, "people.csv");
  const rows = Array.from({ length: contacts }, (_, index) => numberOf(index));
  writeFileSync(list, `to_number\n${rows.join("\n")}\n`);
  const postman = new Postman(random, spoken);
  const names = several ? ["main", "spare"] : [undefined];
  const services = await Promise.all(
    names.map((each) => startService(contacts, postman, spoken, each)),
  );
  const posts = () => services.flatMap((each) => each.posts);
  const file = join(folder, "services.json");
  if (several) {
    const listed = services.map(({ url }, at) => ({
      ...{ name: names[at], baseUrl: url, apiKeyEnv: `KEY_${at}`, rate: 125, concurrency: 100 },
      from_number: `+1202555019${at}`,
    }));
    writeFileSync(file, JSON.stringify(listed));
  }
  const by = several ? ["--services-file", file] : alone;
  const args = ["dial", list, ...by, ...flags, ...limits, ...waits, ...spoken.flags];
  args.push("--listen", "127.0.0.1:0");
  let shift = 86_400_000;
  const dial = (): Running => {
    shift -= Math.floor(random() * 600_000);
    const runtime = runtimes[Math.floor(random() * runtimes.length)] ?? "node";
    const env = {
      ...(several
        ? Object.fromEntries(services.map(({ apiKey }, at) => [`KEY_${at}`, apiKey]))
        : { OUTDIAL_API_KEY: services[0]?.apiKey ?? "", OUTDIAL_BASE_URL: services[0]?.url ?? "" }),
      SIGNING_SECRET: "a secret that was made at random",
      CHAOS_SHIFT: String(shift),
      ...spoken.environment,
    };
    const running = start(runtime, args, env, { preload, allow: ["-A"] });
    running.says(receiverLine).then(
      (text) => {
        postman.receiver = new URL(receiverLine.exec(text)?.[1] ?? "").origin;
      },
      () => {}, // It was killed first, or refused.
    );
    return running;
  };
  const began = Date.now();
  let refused = 0;
  let killed = 0;
  const [first, ...others] = services;
  for (let kill = 0; kill < kills; kill++) {
    // A third of the time one of several is down.
    if (others.length > 0 && kill === Math.floor(kills / 3)) first?.close();
    if (kill === Math.ceil((2 * kills) / 3)) await first?.open();
    const running = [dial(), ...(kill % 4 === 3 ? [dial()] : [])];
    const alive = new Set(running);
    const ended = Promise.all(
      running.map(async (each) => {
        const end = await each.ended;
        alive.delete(each);
        return end;
      }),
    );
    // Most are killed among their POSTs; some sooner or later, by the clock.
    const sent = posts().length;
    const left = Math.max(0, contacts - sent) / (kills - kill);
    const many = sent + 1 + Math.floor(random() * Math.min(killAfter, left));
    const isByClock = kill % 4 === 2;
    const posted = async () => {
      while (alive.size > 0 && posts().length < many) await pause(2);
    };
    const moment = isByClock ? pause(200 + random() * 2_300) : posted();
    // While a service is down nobody can be called, and its calls can't be read.
    await Promise.race([moment, ended, ...(several ? [pause(15_000)] : [])]);
    if (alive.size > 0) killed++;
    for (const each of alive) each.kill("SIGKILL");
    refused += (await ended).filter(({ code }) => code === 2).length;
  }
  await first?.open();
  const last = await dial().ended;
  await postman.stop();
  const journal = join(folder, "people.outdial");
  const { stdout } = await outdial("node", ["results", journal]);
  const faults = [...faultsIn(rowsOf(stdout), { posts: posts() }, postman)];
  if (rowsOf(stdout).length !== contacts) faults.push(`${rowsOf(stdout).length} rows`);
  if (last.code !== 0 && last.code !== 3) faults.push(`exit ${last.code}: ${last.stderr}`);
  for (const service of services) await service.stop();
  if (!process.env.KEEP) rmSync(folder, { recursive: true });
  else console.log(folder);
  const { sent, lost, doubled, forged } = postman.counts;
  const at = (wanted: string | undefined) =>
    posts().filter(({ service }) => service === wanted).length;
  return {
    faults,
    summary: {
      ...{ contacts, kills, killed, seed, posts: posts().length, refused },
      ...(several && { forged, main: at("main"), spare: at("spare") }),
      ...{ sent, lost, doubled, seconds: Math.round((Date.now() - began) / 1000) },
      ended: last.stdout.trim(),
    },
  };
};
