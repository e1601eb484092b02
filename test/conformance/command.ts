import { parseArgs } from "node:util";
import { setup } from "../package/project.ts";
import { startPeer } from "../stub-server/start.ts";
import { type Runtime, runtimes } from "./case.ts";
import { apiKey, from_number, to_number } from "./fixtures.ts";
import { launch } from "./launch.ts";
import type { ListName, Result } from "./run.ts";
import { unlikeCarriers } from "./services/carrier.ts";
import { carrierOf, isService, serviceNames } from "./services/index.ts";

/**
 * The client's list, and a carrier's own, with each carrier in every runtime, and the programs of agents on each line:
 * `npm run conformance`. `--service` takes one carrier, `--programs` the programs, and the names of runtimes take these
 * alone.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { service: { type: "string", multiple: true }, programs: { type: "boolean" } },
});
const services = values.service?.filter(isService) ?? (values.programs ? [] : serviceNames);
const lists: readonly ListName[] =
  values.service && !values.programs ? services : [...services, "programs"];
const wanted = positionals.length > 0 ? positionals : runtimes;
const unknown = [
  ...(values.service ?? []).filter((each) => !isService(each)),
  ...wanted.filter((each) => !runtimes.some((runtime) => runtime === each)),
];
if (unknown.length > 0) throw new Error(`there is no ${unknown.join(", ")}`);

/** Where each step of virtual time takes 1 to 4 ms, as there are only timers: minutes for the programs on each line. */
const slow: readonly string[] = ["edge", "chromium"];

const failuresOf = (
  { code, output }: { readonly code: number | null; readonly output: string },
  results: readonly Result[],
  list: ListName,
): readonly string[] => {
  const printed = output.replace(/^REPORT .*$/m, "");
  const secrets = [apiKey, from_number.slice(1), to_number.slice(1)];
  return [
    ...results.flatMap(({ name, error }) => (error === undefined ? [] : [`${name}\n${error}`])),
    ...(results.length === 0 || code !== 0 ? [`exit ${code}\n${printed.slice(-3_000)}`] : []),
    ...(printed.match(/^.*UNHANDLED.*$/gm) ?? []),
    ...(secrets.some((each) => printed.includes(each)) ||
    (isService(list) && carrierOf(list).showsKey(printed))
      ? ["the output shows the key or a number"]
      : []),
  ];
};

const conforms = async (runtime: Runtime, peer: string, list: ListName): Promise<boolean> => {
  const began = Date.now();
  const { code, stdout, stderr } = await launch(runtime, peer, list);
  const output = stdout + stderr;
  const results: readonly Result[] = JSON.parse(/^REPORT (\[.*\])$/m.exec(output)?.[1] ?? "[]");
  const failures = failuresOf({ code, output }, results, list);
  const exempt = results.flatMap(({ exempt }) => exempt ?? []);
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  const run = results.length - exempt.length;
  console.log(
    `${failures.length > 0 ? "FAILED" : "ok    "} ${list} ${runtime}: ${run} cases, ${exempt.length} exempt, ${seconds} s`,
  );
  for (const failure of failures) console.log(`  ${failure}`);
  return failures.length === 0;
};

const clean = await setup();
const peer = await startPeer();
let isFine = true;
for (const list of lists) {
  const unlike = isService(list) ? { ...unlikeCarriers, ...carrierOf(list).unlike } : {};
  for (const [reason, names] of Object.entries(unlike)) {
    console.log(`not run with ${list}: ${names.length} cases an entry: ${reason}`);
  }
  for (const runtime of runtimes.filter((each) => wanted.includes(each))) {
    if (list === "programs" && positionals.length === 0 && slow.includes(runtime)) {
      console.log(`not run with ${list}: ${runtime}, which takes minutes: name it to run it`);
      continue;
    }
    isFine = (await conforms(runtime, peer.url, list)) && isFine;
  }
}
await peer.stop();
clean?.();
process.exit(isFine ? 0 : 1);
