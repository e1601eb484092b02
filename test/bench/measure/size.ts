// The bytes of a call that a user deploys, and those that a user installs.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type Bundle, bundleForNode, bundleForWorker, here } from "../build.ts";
import { type Isolates, isId, startIsolates } from "../processes.ts";
import { kB, number, reasonOf } from "../rounds.ts";
import {
  type Bench,
  kindOf,
  leastOf,
  type Plot,
  type Section,
  type Standing,
  type Target,
} from "../section.ts";
import { goals } from "../subjects.ts";

const root = `${here}../../`;

interface Installed {
  readonly packages: number;
  readonly bytes: number;
}

const bytesIn = (path: string): number =>
  readdirSync(path, { withFileTypes: true, recursive: true })
    .filter(
      (entry) => entry.isFile() && !entry.parentPath.slice(path.length).includes("node_modules"),
    )
    .reduce((sum, { parentPath, name }) => sum + statSync(`${parentPath}/${name}`).size, 0);

/** A package with all that it depends on, as a lockfile says, and the bytes of their files. */
const installed = (folder: string, names: readonly string[]): Installed => {
  const { packages } = JSON.parse(readFileSync(`${folder}package-lock.json`, "utf8"));
  const found = new Set<string>();
  const add = (name: string, from: string): void => {
    // As Node looks: beside the one that asks, then further up.
    for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
      const path = `${at ? `${at}/` : ""}node_modules/${name}`;
      if (packages[path]) {
        if (found.has(path)) return;
        found.add(path);
        for (const each of Object.keys(packages[path].dependencies ?? {})) add(each, path);
        return;
      }
      if (!at) return;
    }
  };
  for (const name of names) add(name, "");
  const bytes = [...found].reduce((sum, path) => sum + bytesIn(`${folder}${path}`), 0);
  return { packages: found.size, bytes };
};

/** Ours: what `npm pack` would ship, and its two dependencies. */
const ours = (): Installed => {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ unpackedSize }] = Object.values(JSON.parse(packed)) as [{ unpackedSize: number }];
  const { packages, bytes } = installed(root, ["ky", "valibot"]);
  return { packages: packages + 1, bytes: bytes + unpackedSize };
};

/** Whether a call is placed in workerd, without `nodejs_compat`. */
const runIn = async ({ run }: Isolates, code: string): Promise<string> => {
  try {
    const text = await run(code);
    return isId(text) ? "yes" : `no: ${reasonOf(text)}`;
  } catch (error) {
    return `no: ${reasonOf(error)}`;
  }
};

const zipped = (bundle: Bundle) => {
  if ("missing" in bundle) return { gzip: "–", brotli: "–", bytes: Number.NaN };
  const gzip = gzipSync(bundle.code, { level: 9 }).length;
  return { gzip: kB(gzip), brotli: kB(brotliCompressSync(bundle.code).length), bytes: gzip };
};

/** What a user ships, and what a user installs. */
export const size = async ({ subjects, server }: Bench): Promise<Section> => {
  const rows: string[][] = [];
  const bars: Plot["bars"][number][] = [];
  const raw: Record<string, unknown> = {};
  const sizes: { readonly name: string; readonly label: string; readonly bytes: number }[] = [];
  const isolates = await startIsolates();
  for (const subject of subjects) {
    const { name, label, peer } = subject;
    const worker = await bundleForWorker(subject, server);
    const forNode = zipped(await bundleForNode(subject, server));
    const forWorker = zipped(worker);
    const runs =
      "missing" in worker
        ? `does not build: needs ${worker.missing}`
        : await runIn(isolates, worker.code);
    const kind = kindOf(subject);
    const files = peer ? installed(here, [peer]) : kind === "floor" ? undefined : ours();
    rows.push([
      label,
      runs,
      forWorker.gzip,
      forWorker.brotli,
      forNode.gzip,
      files ? `${number(files.bytes / 1e6)} MB` : "–",
      files ? `${files.packages}` : "–",
    ]);
    const value = (runs === "yes" ? forWorker : forNode).bytes / 1000;
    const where = runs === "yes" ? "" : " (Node only)";
    if (value > 0) bars.push({ label: label + where, value, low: value, high: value, kind });
    if (runs === "yes") sizes.push({ name, label, bytes: forWorker.bytes });
    raw[name] = { runs, worker: forWorker, node: forNode, files };
  }
  await isolates.stop();
  const isPeer = ({ name }: { readonly name: string }) =>
    subjects.some((each) => each.name === name && each.peer);
  const best = leastOf(sizes.filter(isPeer), ({ bytes }) => bytes);
  const targets: Target[] = [];
  const standings: Standing[] = [];
  for (const { entry, create, kB: most } of goals) {
    const bytes = sizes.find(({ name }) => name === create)?.bytes ?? Number.NaN;
    targets.push({
      goal: `a Worker with one \`calls.create\` of ${entry} is at most ${most} kB`,
      measured: best ? `${kB(bytes)} (${best.label}: ${kB(best.bytes)})` : kB(bytes),
      met: bytes <= most * 1000,
    });
    if (!best) continue;
    const ahead = best.bytes / bytes;
    standings.push({ entry, what: "the size of a Worker", other: best.label, ahead });
  }
  return {
    title: "Size",
    how: "One call from a module, bundled and minified by esbuild. For a Worker: without `nodejs_compat`, with the conditions that Cloudflare's tool sets, and then run in workerd to see whether a call is placed. Installed: the sum of the files, and the number of packages.",
    tables: [
      {
        columns: [
          "client",
          "places a call in a Worker",
          "Worker, gzip",
          "brotli",
          "Node, gzip",
          "installed",
          "packages",
        ],
        rows,
      },
    ],
    targets,
    standings,
    plots: [{ file: "size", title: "One call, bundled, gzip", unit: "kB, less is better", bars }],
    remarks: [],
    raw,
  };
};
