import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isFile, ofMarkdown } from "../examples/extract.ts";
import { checkMounted, onPort } from "../examples/mounted.ts";

/** The files of docs/frameworks.md, as they stand there: Next's, whose build checks the types of all, apart. */
const folder = fileURLToPath(new URL("files/", import.meta.url));
const nextFolder = join(folder, "next");
const secret = crypto.randomUUID();
const env = { ...process.env, SIGNING_SECRET: secret, NEXT_TELEMETRY_DISABLED: "1" };

before(() => {
  rmSync(folder, { recursive: true, force: true });
  for (const { info, code } of ofMarkdown("docs/frameworks.md").filter(isFile)) {
    const name = info.slice("file: ".length);
    for (const root of [folder, nextFolder]) {
      const isNext = name.startsWith("app/") || name === "handlers.ts";
      if (root === nextFolder && !isNext) continue;
      const file = join(root, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${code}\n`);
    }
  }
  process.env.SIGNING_SECRET = secret;
});

test("Fastify", async () => {
  const { app } = await import(join(folder, "fastify.ts"));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  await checkMounted(
    onPort(port, () => {}),
    secret,
  );
  app.server.closeAllConnections();
  await app.close();
});

const next = fileURLToPath(new URL("node_modules/next/dist/bin/next", import.meta.url));

/** The port in the first line of a server that names one. */
const portOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    let text = "";
    if (!child.stdout) return;
    createInterface(child.stdout).on("line", (line) => {
      text += `${line}\n`;
      const [, port] = /http:\/\/[\w.]+:(\d+)/.exec(line) ?? [];
      if (port) resolve(Number(port));
    });
    child.once("exit", (code) => reject(new Error(`ended with ${code}: ${text}`)));
  });

test("Next builds without the secret, and starts with it", async () => {
  writeFileSync(join(nextFolder, "package.json"), '{ "type": "module" }');
  const { SIGNING_SECRET: _, ...bare } = env;
  // The package is a link, out of the application's folder: Turbopack follows none.
  const built = spawnSync(process.execPath, [next, "build", "--webpack"], {
    cwd: nextFolder,
    env: bare,
    encoding: "utf8",
  });
  if (built.status !== 0) throw new Error(built.stdout + built.stderr);
  const child = spawn(process.execPath, [next, "start", "-H", "127.0.0.1", "-p", "0"], {
    cwd: nextFolder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await checkMounted(
      onPort(await portOf(child), () => {}),
      secret,
    );
  } finally {
    child.kill();
  }
});
