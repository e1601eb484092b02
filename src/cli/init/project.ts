/// <reference path="../../lib/text.d.ts" />
import { basename, resolve } from "node:path";
import { version } from "../../../package.json";
import type { ProjectService } from "../../carriers/carrier.ts";
import agentTest from "../templates/agent.test.ts?text";
import agent from "../templates/agent.ts?text";
import agentOnBun from "../templates/agent-bun.ts?text";
import agentOnDeno from "../templates/agent-deno.ts?text";
import agentOnNode from "../templates/agent-node.ts?text";
import agentReadme from "../templates/agent-readme.md?text";
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
import readme from "../templates/readme.md?text";
import tsconfig from "../templates/tsconfig.json?text";
import workerManifest from "../templates/worker.json?text";
import worker from "../templates/worker.ts?text";
import { type Source, specOf } from "./source.ts";
import { type Filling, filled, fillingOf, withValues } from "./template.ts";

/** A command for the terminal, and what it does. */
type Step = readonly [command: string, explanation?: string];

/** A kind of project. */
interface Target {
  /** Its name for people. */
  readonly label: string;
  readonly manifest: "package.json" | "deno.json";
  /** The text of the manifest, and how README describes it. */
  readonly text: string;
  readonly about: string;
  /** What stands below the application in app.ts, and makes it run here. */
  readonly server: string;
  /** The same of a project with a voice agent, and what that needs beside; absent where one process doesn't have all of a call. */
  readonly agent?: {
    readonly server: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly devDependencies?: Readonly<Record<string, string>>;
  };
  /** Whether the client is that of `outdial/fetch`: size and start-up time count. */
  readonly light?: boolean;
  /** What `tsc` checks the types by, in tsconfig.json. */
  readonly tsconfig?: string;
  /** Installs the packages. */
  readonly install?: string;
  readonly test: string;
  /** What to type after the test. */
  readonly next: readonly Step[];
  /** How it goes live: a sentence or more. */
  readonly live: string;
  /** The step of a workflow that installs the runtime: the action, and its inputs. */
  readonly setup: readonly [action: string, input: string];
}

/** What to type where the application runs on this machine: `run` starts a script. */
const locally = (run: string, start: string): readonly Step[] => [
  [`${run} emulator`, "the service on this machine; prints its key"],
  ["cp .env.example .env", "in another terminal; then fill it in"],
  [start],
  [
    `set -a; . ./.env; printf 'Authorization: Bearer %s' "$CALL_TOKEN" |
  curl http://127.0.0.1:3000/call -H @- -d '{ "to_number": "+12025550100" }'`,
    "in a third terminal; places a call",
  ],
];

const behindProxy = (start: string): string =>
  `Run \`${start}\` behind a proxy that terminates TLS; \`HOST\` and \`PORT\` set its address. The settings are in \`.env\`, or in the environment.`;

const scripts = "what it depends on, and its scripts";
const setupNode = ["actions/setup-node@v6", "node-version: 24"] as const;

/** Where a project can run, by its name on the command line. */
export const targets = {
  worker: {
    label: "Cloudflare Workers",
    manifest: "package.json",
    text: workerManifest,
    about: `${scripts}, which have the settings of Wrangler`,
    server: worker,
    // The test runs on Node, and the application has the globals of Workers.
    tsconfig: tsconfig.replace('"node"', '"@cloudflare/workers-types", "node"'),
    light: true,
    install: "npm install",
    test: "npm test",
    next: locally("npm run", "npm start"),
    live: "Copy `.env.example` to `.env.production`, fill that in, and run `npm run deploy`: it uploads the code, and the settings as secrets.",
    setup: setupNode,
  },
  deno: {
    label: "Deno",
    manifest: "deno.json",
    text: denoManifest,
    about: "what it imports, and its tasks",
    server: denoServer,
    agent: { server: agentOnDeno },
    test: "deno test",
    next: locally("deno task", "deno task start"),
    live: behindProxy("deno task start"),
    setup: ["denoland/setup-deno@v2", "deno-version: v2.x"],
  },
  bun: {
    label: "Bun",
    manifest: "package.json",
    text: bunManifest,
    about: scripts,
    server: bunServer,
    agent: { server: agentOnBun },
    install: "bun install",
    test: "bun test",
    next: locally("bun run", "bun start"),
    live: behindProxy("bun start"),
    setup: ["oven-sh/setup-bun@v2", "bun-version: latest"],
  },
  node: {
    label: "Node",
    manifest: "package.json",
    text: nodeManifest,
    about: scripts,
    server: nodeServer,
    agent: {
      server: agentOnNode,
      dependencies: { ws: "^8.18.0" },
      devDependencies: { "@types/ws": "^8.18.0" },
    },
    tsconfig,
    install: "npm install",
    test: "npm test",
    next: locally("npm run", "npm start"),
    live: behindProxy("npm start"),
    setup: setupNode,
  },
  lambda: {
    label: "AWS Lambda",
    manifest: "package.json",
    text: lambdaManifest,
    about: scripts,
    server: lambdaHandler,
    install: "npm install",
    test: "npm test",
    next: [["npm run build", "writes dist/app.mjs, to upload"]],
    live: "Upload `dist/app.mjs` to a function with Node 24 and a function URL. Its handler is `app.handler`, its time-out 15 s, and the settings are its environment variables.",
    setup: setupNode,
  },
} as const satisfies Record<string, Target>;

/** What a project can be, by its name on the command line: what differs in its README. */
export const templates = {
  reminder: {
    readme,
    test: "places calls on the emulator",
    needs: ", which must announce `say` and `gather`",
  },
  agent: { readme: agentReadme, test: "simulates calls", needs: "" },
} as const;

/** The name of a template. */
export type TemplateName = keyof typeof templates;

export const isTemplate = (name: string): name is TemplateName => Object.hasOwn(templates, name);

/** Where a template can run. */
export const targetsOf = (template: TemplateName): readonly string[] =>
  Object.entries<Target>(targets).flatMap(([name, { agent: has }]) =>
    template === "agent" && !has ? [] : [name],
  );

/** A project to be written. */
export interface ProjectKind {
  readonly target: TargetName;
  readonly template: TemplateName;
  readonly service: ProjectService | undefined;
}

/** The name of a kind of project. */
export type TargetName = keyof typeof targets;

export const isTarget = (name: string): name is TargetName => Object.hasOwn(targets, name);

/** A path as an argument of a shell. */
export const quoted = (path: string): string => {
  const plain = path.startsWith("-") ? `./${path}` : path;
  return /^[\w./-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
};

/** `--prefix`, as npm takes a folder above for the project where it finds no package.json. Deno checks `node:test` by @types/node. */
const installForDeno = (from: string): string =>
  `npm install --no-save --prefix . ${from} @types/node`;

/** Deno installs from a registry only, and runs what npm has installed from elsewhere. */
const installs = (target: TargetName, source: Source): string | undefined => {
  const { manifest, install }: Target = targets[target];
  if (manifest === "package.json" || source.kind === "registry") return install;
  const from = source.kind === "file" ? source.path : source.url;
  return installForDeno(quoted(from));
};

/** What to type in a new project, in this order. */
export const stepsOf = (
  target: TargetName,
  template: TemplateName,
  source: Source,
): readonly Step[] => {
  const { test, next }: Target = targets[target];
  const install = installs(target, source);
  return [...(install ? [[install] as const] : []), [test, templates[template].test], ...next];
};

/** Steps as lines for a terminal, their explanations below each other. */
export const lines = (
  steps: readonly Step[],
  paint: (comment: string) => string,
): readonly string[] =>
  steps.flatMap(([command, explanation]) => {
    if (!explanation) return [command];
    const comment = paint(`# ${explanation}`);
    return command.includes("\n") ? [comment, command] : [`${command.padEnd(20)}   ${comment}`];
  });

/** Steps as a list in Markdown. No comments: zsh, when they are pasted, takes them as arguments. */
const list = (steps: readonly Step[]): string =>
  steps
    .map(([command, explanation], at) => {
      const number = `${at + 1}. `;
      if (!command.includes("\n")) {
        return `${number}\`${command}\`${explanation ? `: ${explanation}` : ""}`;
      }
      const block = ["```sh", ...command.split("\n"), "```"];
      return [`${number}${explanation}:`, "", ...block.map((line) => `   ${line}`)].join("\n");
    })
    .join("\n");

/** A name that npm and Cloudflare accept, and that is no package which the project installs. */
export const nameOf = (folder: string): string => {
  const name = basename(resolve(folder))
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .slice(0, 50)
    .replace(/^-+|-+$/g, "");
  if (!name) return "calls";
  return ["outdial", "wrangler", "esbuild"].includes(name) ? `${name}-calls` : name;
};

const importLine = /^import .+\n/gm;

/** The application and its server as one file, their imports at its top. */
const joined = (app: string, server: string, filling: Filling): string => {
  const imports = server.match(importLine) ?? [];
  const own = imports.filter((line) => !line.includes('"./app.ts"')).join("");
  return `${own}${filled(app, filling)}${server.replace(importLine, "")}`;
};

/** The steps of the workflow in README that come after the checkout. */
const workflowSteps = (target: TargetName, source: Source): string => {
  const { setup, test }: Target = targets[target];
  const install = installs(target, source);
  return [
    `      - uses: ${setup[0]}`,
    `        with:`,
    `          ${setup[1]}`,
    ...(install ? [`      - run: ${install}`] : []),
    `      - run: ${test}`,
  ].join("\n");
};

/** What README adds where outdial is a file that no other machine has. */
const onlyHere = (target: TargetName, { path }: Extract<Source, { kind: "file" }>): string => {
  const { install }: Target = targets[target];
  const tarball = `./outdial-${version}.tgz`;
  const change = install
    ? `run \`${install.startsWith("bun") ? "bun add" : install} ${tarball}\`, which changes \`package.json\``
    : `let the workflow run \`${installForDeno(tarball)}\``;
  return `
outdial is installed from \`${path}\`, which no other machine has. For CI, put its tarball into this folder (\`npm pack\`
makes one of a clone), and ${change}.
`;
};

const liveService = ({ service, template }: ProjectKind): string => {
  const docs = "node_modules/outdial/docs";
  if (!service) {
    return `Choose a service. \`app.ts\` uses one with outdial's own interface${templates[template].needs}: see \`${docs}/service.md\`.
   \`outdial init${template === "agent" ? " --template agent" : ""} --service twilio\` (or \`vonage\`, \`telnyx\`) writes this project for a carrier.`;
  }
  const { name, label } = service;
  return `Read \`${docs}/${name}.md\`: what ${label} needs. \`OUTDIAL_BASE_URL\` stays empty.`;
};

const readmeOf = (kind: ProjectKind, name: string, source: Source): string => {
  const { target, template, service } = kind;
  const { label, manifest, about, live, tsconfig }: Target = targets[target];
  const values: Readonly<Record<string, string>> = {
    name,
    manifest,
    about:
      tsconfig === undefined
        ? about
        : `${about} |\n| \`tsconfig.json\` | how \`npm run types\` checks the types`,
    live,
    service: liveService(kind),
    platform: service ? `${label} and ${service.label}` : label,
    docs: "node_modules/outdial/docs",
    commands: list(stepsOf(target, template, source)),
    ci: workflowSteps(target, source),
  };
  const text = withValues(templates[template].readme, values);
  return source.kind === "file" ? text + onlyHere(target, source) : text;
};

const manifestOf = (
  { target, template, service }: ProjectKind,
  name: string,
  source: Source,
): string => {
  const { manifest, text: given, agent: more }: Target = targets[target];
  const text = withValues(given, {
    name,
    flags: service ? ` --service ${service.name} --account ${service.account}` : "",
    range: source.kind === "registry" ? source.range : "*",
    // Deno takes from node_modules what npm has installed there.
    nodeModules: source.kind === "registry" ? "auto" : "manual",
  });
  if (manifest === "deno.json") return text;
  const json: { dependencies: object; devDependencies?: object } = JSON.parse(text);
  const extra = template === "agent" ? more : undefined;
  const dependencies = { ...json.dependencies, outdial: specOf(source), ...extra?.dependencies };
  const devDependencies = { ...json.devDependencies, ...extra?.devDependencies };
  return `${JSON.stringify(
    { ...json, name, dependencies, ...(json.devDependencies && { devDependencies }) },
    null,
    2,
  )}\n`;
};

/** The files of a new project: six, and tsconfig.json where `tsc` checks the types. */
export const filesOf = (
  kind: ProjectKind,
  folder: string,
  source: Source,
): Readonly<Record<string, string>> => {
  const { target, template, service } = kind;
  const { manifest, tsconfig, light = false, server, agent: talking }: Target = targets[target];
  const name = nameOf(folder);
  const hasAgent = template === "agent";
  const filling = fillingOf(service, light, hasAgent);
  return {
    "README.md": readmeOf(kind, name, source),
    [manifest]: manifestOf(kind, name, source),
    "app.ts": hasAgent
      ? joined(agent, talking?.server ?? "", filling)
      : joined(app, server, filling),
    "app.test.ts": filled(hasAgent ? agentTest : test, filling),
    ".env.example": filled(settings, filling),
    ".gitignore": ignored,
    ...(tsconfig !== undefined && { "tsconfig.json": tsconfig }),
  };
};
