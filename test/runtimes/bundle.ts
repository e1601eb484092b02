import { build } from "esbuild";

/** One file out of an entry, for the runtimes that take no folder: minified, as users ship it. */
export const bundle = async (
  entry: string,
  format: "esm" | "iife",
  globalName?: string,
): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [new URL(entry, import.meta.url).pathname],
    bundle: true,
    write: false,
    format,
    minify: true,
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2022",
    // Modules are strict code, and an IIFE made of them is not by itself.
    tsconfigRaw: { compilerOptions: { alwaysStrict: true } },
    ...(globalName && { globalName }),
  });
  return outputFiles[0]?.text ?? "";
};
