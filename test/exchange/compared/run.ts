import { DatabaseSync } from "node:sqlite";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { end, press, redirect } from "../../../src/calls/index.ts";
import { openCampaign, openLedger } from "../../../src/campaigns/index.ts";
import type { Emulator, HistoryEntry } from "../../../src/emulator/index.ts";
import { Client } from "../../../src/index.ts";
import { from, pause } from "../stage.ts";
import { applicationOf, type Side, secret } from "./application.ts";
import type { Case } from "./cases.ts";
import { receivedIn } from "./received.ts";

/** How long a live call is left alone until the API is asked, in milliseconds. */
const liveDelay = 1_500;

/** What came of one call. */
export interface Outcome {
  readonly kind: string;
  readonly disposition: string | undefined;
  readonly answers: Readonly<Record<string, string>>;
  /** The notifications that the application got, in order. */
  readonly notified: readonly string[];
  /** The requests for its flow, in order: the first comes at the same time as a notification. */
  readonly asked: readonly string[];
  /** What happened on the line, in order. */
  readonly did: readonly string[];
}

/** Opens a service whose application is given. */
export type OpenService = (fetch: (request: Request) => Promise<Response>) => Promise<Emulator>;

/** What happened in a call, without its times and ids, and without the attempts of its notifications. */
const transcript = (history: readonly HistoryEntry[]): readonly string[] =>
  history.flatMap((entry) => {
    switch (entry.type) {
      case "state":
        return [`${entry.state} ${entry.reason ?? ""}`.trim()];
      case "action":
        return [entry.action.action];
      case "verb":
        return [entry.verb];
      case "press":
        return [`press ${entry.digit}`];
      case "leg":
        return [`second telephone ${entry.state} ${entry.reason ?? ""}`.trim()];
      case "stream":
        return [`stream ${entry.state}, ${entry.malformed_count} malformed`];
      case "flow_error":
        return [`error ${entry.field}`];
      case "recording":
        return ["recording"];
      default:
        return [];
    }
  });

const isNotification = (text: string): boolean => text.startsWith("/status");

/** Calls a list, and returns what came of each contact. */
export const runList = async (
  cases: readonly Case[],
  { service, keyOf }: Side,
  media: string,
  open: OpenService,
): Promise<readonly Outcome[]> => {
  const received = new Map<string, string[]>();
  const live: Promise<unknown>[] = [];
  const application = applicationOf({
    service,
    media,
    onInput: (given) => campaign.note(given),
    onEvent: (received) => {
      const { type, call_id } = received.event;
      const number = ids.get(call_id ?? "");
      const { program, more } = cases.find(({ to_number }) => to_number === number) ?? {};
      if (program === "live" && type === "call.answered") live.push(act(call_id ?? "", more));
      return campaign.note(received);
    },
  });
  const emulator = await open(async (request) => {
    const one = await receivedIn(request.clone());
    if (one) received.set(one.id, [...(received.get(one.id) ?? []), one.text]);
    return application.fetch(request);
  });
  const account = {
    baseUrl: "https://service.test",
    fetch: emulator.fetch,
    ...(service && { service }),
  };
  const client = new Client(keyOf(emulator), account);
  const ids = new Map<string, string>();
  const act = async (id: string, more: string | undefined): Promise<void> => {
    await pause(liveDelay);
    if (more === "end") return end(id, client);
    // A call of outdial's own interface can't be led elsewhere.
    if (!service) return press(id, "12#", client);
    const flow = await signUrl("https://app.test/elsewhere", { secret });
    await redirect({ id, from_number: from, to_number: ids.get(id) ?? "" }, flow, client);
  };
  const database = new DatabaseSync(":memory:");
  const campaign = await openCampaign(database, {
    ...(service && { service }),
    ...{ from_number: from, secret, window: "always", attempts: 1 },
    ...{ rate: 5, concurrency: 200, variables: ["program", "more"] },
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    create: async (params, options) => {
      const call = await client.calls.create(params, options);
      ids.set(call.id, params.to_number);
      return call;
    },
  });
  await campaign.add(
    cases.map(({ to_number, program, more }) => ({ to_number, variables: { program, more } })),
  );
  await campaign.run();
  await Promise.all(live);
  const histories = new Map<string, readonly HistoryEntry[]>();
  for (const { id } of emulator.calls) {
    const { to_number, history } = await emulator.ended(id);
    histories.set(to_number, history);
  }
  const results = [...openLedger(database).results()];
  await campaign.close();
  return cases.map(({ kind, to_number }) => {
    const {
      disposition,
      answers = {},
      call_id = "",
    } = results.find((result) => result.to_number === to_number) ?? {};
    const requests = received.get(call_id ?? "") ?? [];
    return {
      ...{ kind, disposition, answers },
      notified: requests.filter(isNotification),
      asked: requests.filter((request) => !isNotification(request)),
      did: transcript(histories.get(to_number) ?? []),
    };
  });
};
