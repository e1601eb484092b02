import { spawn } from "node:child_process";

/** How long each process may live after its last line, in milliseconds. */
const most = 100;

const [, , peer = ""] = process.argv;
const bin = "test/node_modules";
const script = "test/runtimes/last-line.ts";
const commands: Readonly<Record<string, readonly string[]>> = {
  node22: [`${bin}/node22/bin/node`, script],
  node24: [`${bin}/node/bin/node`, script],
  node26: [`${bin}/node26/bin/node`, script],
  deno: [
    `${bin}/.bin/deno`,
    "run",
    "--no-prompt",
    "--allow-net=127.0.0.1",
    "--config=test/runtimes/deno.json",
    script,
  ],
  bun: [`${bin}/.bin/bun`, script],
};

/** From the last line of a process to its end. */
const afterLastLine = ([command = "", ...args]: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, [...args, peer], { stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    child.on("exit", (code) => {
      const ended = Date.now();
      const last = Number(/LAST LINE (\d+)/.exec(printed)?.[1]);
      if (code === 0 && last > 0) resolve(ended - last);
      else reject(new Error(`${command}: exit ${code}, printed ${printed}`));
    });
  });

let late = false;
for (const [runtime, command] of Object.entries(commands)) {
  const times = [];
  for (let round = 0; round < 3; round++) times.push(await afterLastLine(command));
  console.log(`${runtime}: ended ${times.join(", ")} ms after its last line`);
  // The middle one: a busy machine may keep one of them from its end.
  const [, middle = most] = times.toSorted((one, other) => one - other);
  if (middle > most) late = true;
}
if (late) {
  console.error(`A process lived more than ${most} ms after its last line.`);
  process.exit(1);
}
