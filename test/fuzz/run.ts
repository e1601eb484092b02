import { spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { isService } from "../conformance/services/index.ts";

/**
 * The fuzz, `npm run fuzz`: in each runtime one after the other, from a seed that is printed; `--seed`
 * and `--runs` choose, `--runtime` takes a part, and `--service` a carrier.
 */
const { values } = parseArgs({
  options: {
    seed: { type: "string", default: `${Date.now() % 2 ** 31}` },
    runs: { type: "string", default: "20000" },
    runtime: { type: "string", multiple: true },
    service: { type: "string" },
  },
});
process.chdir(new URL("../..", import.meta.url).pathname);
const modules = "test/node_modules";
const main = "test/fuzz/runtimes/main.ts";
const deno = ["run", "--no-prompt", "--allow-net=127.0.0.1", "--config=test/runtimes/deno.json"];

const commands: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath, main],
  deno: [`${modules}/.bin/deno`, ...deno, main],
  bun: [`${modules}/.bin/bun`, main],
  workerd: [process.execPath, "test/fuzz/runtimes/workerd.ts"],
};

const server = spawn(process.execPath, ["test/fuzz/wire/server.ts"], {
  stdio: ["pipe", "pipe", "inherit"],
});
const [control, wire] = String((await once(server.stdout, "data"))[0])
  .trim()
  .split(" ")
  .map(Number);
const { seed, runs, service } = values;
if (service !== undefined && !isService(service)) throw new Error(`there is no ${service}`);
const subject = service ? `, with ${service}` : "";
console.log(`seed ${seed}, ${runs} runs in each runtime${subject}`);

const fuzzIn = async (runtime: string): Promise<boolean> => {
  const [command = "", ...args] = commands[runtime] ?? [];
  const began = Date.now();
  const reported = JSON.stringify({
    seed: Number(seed),
    runs: Number(runs),
    service,
    control,
    wire,
  });
  const child = spawn(command, [...args, reported], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += part));
  const [code] = await once(child, "exit");
  const found = /^FUZZED (.*)$/m.exec(output)?.[1];
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  if (found && code === 0) {
    for (const [how, { runs, placed, no, maybe, aborted }] of Object.entries<
      Record<string, number>
    >(JSON.parse(found)))
      console.log(
        `ok     ${runtime}, ${how}: ${runs} calls, ${placed} placed, ${no} no, ${maybe} maybe, ${aborted} aborted; ${seconds} s`,
      );
    return true;
  }
  console.log(`FAILED ${runtime}, ${seconds} s\n${output.slice(0, 6_000)}`);
  return false;
};

let isFine = true;
for (const runtime of values.runtime ?? Object.keys(commands)) {
  isFine = (await fuzzIn(runtime)) && isFine;
}
server.stdin.end();
process.exit(isFine ? 0 : 1);
