import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const { exports }: { exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(file("deno.json"), "utf8"),
);

/** For Vite: what imports `outdial` gets `src` itself, which needs no build. */
export const sources = Object.entries(exports).map(([entry, source]) => ({
  find: new RegExp(`^${entry.replace(".", "outdial")}$`),
  replacement: file(source),
}));
