// `npm run campaign`: the Worker on this machine, with the emulator as the service: no account, no
// network, no telephone. Ctrl-C ends it, and nothing of it stays.
import { startService } from "../bridge/service.ts";
import { startWorker, token } from "./worker.ts";

const service = await startService({ speed: 10, ringDuration: 2_000 });
const { emulator, baseUrl } = service;
const { apiKey, webhookSecret } = emulator;
const worker = await startWorker({ baseUrl, apiKey, webhookSecret });
console.log(`
  page      ${worker.url}
  token     ${token}
  a list    printf 'to_number\\n+12025550100\\n+12025550101\\n' > people.csv

  The service is the emulator, ten times as fast: +12025550101 is busy, …102 never answers, …103
  rejects, …110 answers 503, …115 garbage; every other number picks up. Ctrl-C ends it.
`);
const stop = async (): Promise<void> => {
  await worker.close();
  await service.close();
  process.exit();
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, stop);
