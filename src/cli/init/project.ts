/// <reference path="./text.d.ts" />
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "../../../package.json";
import test from "../templates/app.test.ts?text";
import app from "../templates/app.ts?text";
import bunManifest from "../templates/bun.json?text";
import bunServer from "../templates/bun.ts?text";
import denoManifest from "../templates/deno.json?text";
import denoServer from "../templates/deno.ts?text";
import settings from "../templates/env.example?text";
import ignored from "../templates/gitignore?text";
import lambdaManifest from "../templates/lambda.json?text";
import lambdaHandler from "../templates/lambda.ts?text";
import nodeManifest from "../templates/node.json?text";
import nodeServer from "../templates/node.ts?text";
import workerManifest from "../templates/worker.json?text";
import wrangler from "../templates/wrangler.toml?text";

/** The files that every project has. */
const common = {
  "app.ts": app,
  "app.test.ts": test,
  ".env.example": settings,
  ".gitignore": ignored,
} as const;

/** Where size and start-up time count, the client without ky. */
const appOnWorkers = app.replace('from "outdial";', 'from "outdial/fetch";');

/** A command for the terminal, and what it does. */
type Step = readonly [command: string, explanation?: string];

const fillIn: Step = ["cp .env.example .env", "then fill it in"];
const firstCall: Step = [
  `set -a; . ./.env; printf 'Authorization: Bearer %s' "$CALL_TOKEN" |
    curl http://127.0.0.1:3000/call -H @- -d '{ "to_number": "+12025550100" }'`,
];

/** What to type in a new project whose packages `manager` installs; `run` is how it starts a script. */
const steps = (install: readonly Step[], test: string, run: string, start: string): Step[] => [
  ...install,
  [test, "places calls on the emulator"],
  fillIn,
  [`${run} emulator`, "the service on this machine; prints its key"],
  [start, "in another terminal"],
  firstCall,
];

/** A kind of project. */
interface Target {
  /** Its name in a question. */
  readonly label: string;
  readonly manifest: "package.json" | "deno.json";
  /** The text of each file, by its path. */
  readonly files: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

/** Where a project can run, by its name on the command line. */
export const targets = {
  worker: {
    label: "Cloudflare Workers",
    manifest: "package.json",
    files: {
      "package.json": workerManifest,
      "wrangler.toml": wrangler,
      ...common,
      "app.ts": appOnWorkers,
    },
    steps: steps([["npm install"]], "npm test", "npm run", "npm start"),
  },
  deno: {
    label: "Deno",
    manifest: "deno.json",
    files: { "deno.json": denoManifest, "main.ts": denoServer, ...common },
    steps: steps([], "deno test", "deno task", "deno task start"),
  },
  bun: {
    label: "Bun",
    manifest: "package.json",
    files: { "package.json": bunManifest, "main.ts": bunServer, ...common },
    steps: steps([["bun install"]], "bun test", "bun run", "bun start"),
  },
  node: {
    label: "Node",
    manifest: "package.json",
    files: { "package.json": nodeManifest, "main.ts": nodeServer, ...common },
    steps: steps([["npm install"]], "npm test", "npm run", "npm start"),
  },
  lambda: {
    label: "AWS Lambda",
    manifest: "package.json",
    files: { "package.json": lambdaManifest, "handler.ts": lambdaHandler, ...common },
    steps: [
      ["npm install"],
      ["npm test", "places calls on the emulator"],
      ["npm run build", "writes dist/handler.mjs, to upload"],
    ],
  },
} as const satisfies Record<string, Target>;

/** The name of a kind of project. */
export type TargetName = keyof typeof targets;

export const isTarget = (name: string): name is TargetName => Object.hasOwn(targets, name);

const readJson = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return;
  }
};

/** A text inside of a JSON value. */
const textAt = (json: unknown, ...path: readonly string[]): string | undefined => {
  let value = json;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return;
    value = new Map<string, unknown>(Object.entries(value)).get(name);
  }
  return typeof value === "string" ? value : undefined;
};

/** The folder of the package that this command is part of. */
const packageFolder = (): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) {
    folder = dirname(folder);
  }
  return folder;
};

/**
 * What a new project installs as outdial: what this command was installed from, so that both are the same
 * code. A clone or a tarball is named by its path, and only a package of a registry by its version.
 */
export const installedFrom = (folder = packageFolder()): string => {
  if (existsSync(join(folder, "src"))) return `file:${folder}`;
  const project = resolve(folder, "../..");
  const locked = readJson(join(project, "node_modules/.package-lock.json"));
  const from =
    textAt(locked, "packages", "node_modules/outdial", "resolved") ??
    textAt(readJson(join(project, "package.json")), "dependencies", "outdial") ??
    "";
  const path = /^file:(.+)$/.exec(from)?.[1] ?? /^.+\.tgz$/.exec(from)?.[0];
  return path && !URL.canParse(path) ? `file:${resolve(project, path)}` : `^${version}`;
};

/** A name that npm and Cloudflare accept. */
const nameOf = (folder: string): string =>
  basename(resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "") || "calls";

/** The files of a new project. */
export const filesOf = (
  target: TargetName,
  folder: string,
  source: string,
): Readonly<Record<string, string>> => {
  const { manifest, files }: Target = targets[target];
  const name = nameOf(folder);
  const written: Record<string, string> = { ...files };
  if (manifest === "deno.json") {
    written[manifest] = denoManifest.replaceAll("npm:outdial@*", `npm:outdial@${source}`);
    return written;
  }
  const json: { dependencies: object } = JSON.parse(files[manifest] ?? "");
  const dependencies = { ...json.dependencies, outdial: source };
  written[manifest] = `${JSON.stringify({ ...json, name, dependencies }, null, 2)}\n`;
  if (target === "worker") {
    written["wrangler.toml"] = wrangler.replace('name = "calls"', `name = "${name}"`);
  }
  return written;
};
