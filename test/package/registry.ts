import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { execute } from "../examples/execute.ts";
import { packed } from "./project.ts";

/** A registry of npm on this machine. */
export interface Registry {
  readonly url: string;
  readonly close: () => void;
}

/** Where every other package is. */
const elsewhere = "https://registry.npmjs.org";

/** The package as a registry describes it. */
const describe = (folder: string, tarball: string, url: string): string => {
  const text = readFileSync(join(folder, "package.json"), "utf8");
  // Without the optional peers: Deno looks for all of them.
  const { peerDependencies: _, ...manifest } = JSON.parse(text);
  const { name, version } = manifest;
  const integrity = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  const dist = { tarball: `${url}/${name}.tgz`, integrity };
  const versions = { [version]: { ...manifest, dist } };
  return JSON.stringify({ name, "dist-tags": { latest: version }, versions });
};

/**
 * Starts a registry that has the packed package, as it will be once it is published, and what it depends on.
 * Whoever asks for another package is sent to npm's own.
 */
export const startRegistry = async (folder: string): Promise<Registry> => {
  const { project, tarball } = packed();
  const modules = join(project, "node_modules");
  const tarballs: Record<string, string> = { outdial: tarball };
  for (const name of ["ky", "valibot"]) {
    tarballs[name] = join(folder, `${name}.tgz`);
    const { code, stderr } = await execute("tar", ["-czf", tarballs[name], "-C", modules, name]);
    if (code !== 0) throw new Error(stderr);
  }
  const server = createServer(({ url: path = "" }, response) => {
    const name = path.slice(1).replace(/\.tgz$/, "");
    const file = Object.hasOwn(tarballs, name) ? tarballs[name] : undefined;
    if (!file) return response.writeHead(302, { Location: elsewhere + path }).end();
    if (path.endsWith(".tgz")) return createReadStream(file).pipe(response);
    response.setHeader("Content-Type", "application/json");
    return response.end(describe(join(modules, name), file, url));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url, close: () => server.close() };
};
