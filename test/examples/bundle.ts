import { build } from "esbuild";
import { path } from "./execute.ts";

/** An example as one file, as its platform's own tool would make it: without any Node module. */
export const bundle = async (example: string, format: "esm" | "iife"): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [path(example)],
    bundle: true,
    write: false,
    format,
    globalName: "example",
    platform: "neutral",
    conditions: ["worker", "browser"],
    mainFields: ["module", "main"],
    target: "es2022",
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
};
