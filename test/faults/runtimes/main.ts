import "../watch.ts"; // Before the package.
import type { Runtime } from "../../conformance/case.ts";
import { attemptAll, report, watchEnd } from "../attempt.ts";

declare const Deno: { readonly args: readonly string[] } | undefined;
declare const process: { readonly argv: readonly string[] };

// Node, Deno and Bun. Unhandled rejections end each of them by themselves, with a failure.
const args = typeof Deno === "undefined" ? process.argv.slice(2) : Deno.args;
const [control = "", runtime = ""] = args;
console.log(report(await attemptAll(control, runtime as Runtime)));
watchEnd();
