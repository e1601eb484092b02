import { EdgeVM } from "@edge-runtime/vm";
import { bundle } from "../../runtimes/bundle.ts";

// Unhandled rejections in the VM end Node, with a failure.
const [, , control = ""] = process.argv;
const vm = new EdgeVM();
vm.evaluate(await bundle("../faults/runtimes/page.ts", "iife", "list"));
const args = [control, "edge"].map((each) => JSON.stringify(each));
console.log(await vm.evaluate(`list.meet(${args})`));
// It keeps no process by itself.
setTimeout(() => console.log("UNHANDLED: the process lives on"), 15_000).unref();
