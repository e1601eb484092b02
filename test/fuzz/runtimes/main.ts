import { inspect } from "../../runtimes/inspect.ts";
import { fuzz } from "../property.ts";

declare const Deno: { readonly args: readonly string[] } | undefined;
declare const process: { readonly argv: readonly string[] };

const [seed, runs] = typeof Deno === "undefined" ? process.argv.slice(2) : Deno.args;
console.log(`FUZZED ${JSON.stringify(await fuzz(inspect, Number(seed), Number(runs)))}`);
