import "../wire/fetch.ts"; // Before the package.
import { fuzzAll } from "../fuzz.ts";

declare const Deno: { readonly args: readonly string[] } | undefined;
declare const process: { readonly argv: readonly string[] };

/** The fuzz in Node, Deno and Bun. */
const [reported = ""] = typeof Deno === "undefined" ? process.argv.slice(2) : Deno.args;
console.log(`FUZZED ${JSON.stringify(await fuzzAll(JSON.parse(reported)))}`);
