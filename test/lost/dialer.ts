import { DatabaseSync } from "node:sqlite";
import { calls } from "outdial";
import { openCampaign } from "outdial/campaigns";

/** What a process that dials a list is started with. */
export interface DialerGiven {
  readonly file: string;
  readonly numbers: readonly string[];
  readonly baseUrl: string;
  readonly idempotent: boolean;
}

const { file, numbers, baseUrl, idempotent }: DialerGiven = JSON.parse(process.argv[2] ?? "");

const campaign = await openCampaign(new DatabaseSync(file), {
  from_number: "+12025550177",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
  secret: "a secret that was made at random",
  create: (params, options) =>
    calls.create(params, { ...options, apiKey: "ak_lost_and_found", baseUrl, timeout: 900 }),
  ...(idempotent && { idempotent, account: baseUrl }),
  window: "always",
  rate: 200,
  concurrency: 100_000,
});
await campaign.add(numbers.map((to_number) => ({ to_number })));

/** Whether nothing is asked for any more: the calls stay live, as nothing is notified of them. */
const isOver = () => {
  const { waiting, unclear } = campaign.progress();
  return waiting === 0 && (!idempotent || unclear === 0);
};

const patience = Date.now() + 90_000;
while (!isOver() && Date.now() < patience) {
  await campaign.step();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
await campaign.idle();
const { calling, unclear, contacts, unknown } = campaign.progress();
const ids = Object.fromEntries(
  [...campaign.results()].map(({ to_number, call_id }) => [to_number, call_id]),
);
console.log(`DIALLED ${JSON.stringify({ calling, unclear, contacts, unknown, ids })}`);
process.exit(0);
