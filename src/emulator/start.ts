import type { ApiParts } from "../server/api.ts";
import type { EmulatorEvent } from "../server/history.ts";
import type { NewId, Random } from "../server/ids.ts";
import { requester } from "../server/outgoing.ts";
import type { ServiceSide } from "../server/side.ts";
import { Call, type CallRegistry } from "./call.ts";
import type { Clock } from "./clock.ts";
import type { EventLog } from "./event-log.ts";
import { type CallParts, runCall, type Telephones } from "./flow.ts";
import { Notifier } from "./notifications.ts";
import type { EmulatorSettings } from "./options.ts";
import type { LineParts } from "./simulated-line.ts";

/** What the calls of an emulator are made of. */
export interface StarterParts extends Pick<ApiParts, "reachOf" | "responseTimeout"> {
  readonly settings: EmulatorSettings;
  readonly side: ServiceSide;
  readonly clock: Clock;
  readonly line: LineParts;
  readonly telephones: Telephones;
  readonly random: Random;
  readonly newId: NewId;
  readonly calls: CallRegistry;
  readonly eventLog: EventLog<EmulatorEvent>;
}

/** What an application's responses are timed by: a virtual clock, or the process. */
const durationClock = ({ clock }: EmulatorSettings): (() => number) | undefined =>
  typeof clock === "function" ? clock : undefined;

const notifierOf = ({ settings, side, random, responseTimeout }: StarterParts): Notifier => {
  const timeout = settings.responseTimeout ?? side.notificationTimeout ?? responseTimeout;
  return new Notifier({
    request: requester(settings.fetch, timeout, durationClock(settings)),
    random,
    faults: settings.notifications,
  });
};

const callPartsOf = (
  { settings, side, line, telephones, newId, responseTimeout }: StarterParts,
  notifier: Notifier,
): CallParts => ({
  ...settings,
  request: requester(settings.fetch, responseTimeout, durationClock(settings)),
  responseTimeout,
  ...line,
  telephones,
  WebSocket: settings.WebSocket ?? globalThis.WebSocket,
  follow: (call, parts) =>
    side.follow(call, {
      accountId: side.accountId,
      newId,
      request: parts.request,
      line: telephones.lineOf(call, parts),
      notify: (messages) => notifier.notify(call, messages),
    }),
});

/** Returns the function that starts the calls which the API accepts. */
export const callStarter = (parts: StarterParts): ApiParts["accept"] => {
  const { side, clock, calls, eventLog, reachOf, line } = parts;
  const notifier = notifierOf(parts);
  const callParts = callPartsOf(parts, notifier);
  return ({ params, limits, url, prepare }) => {
    const id = side.newCallId(Date.now());
    const recordingUrl = () => side.recordingUrl(new URL(url).origin, id);
    const request = { id, params, limits, recordingUrl, reach: reachOf(url), kept: line.kept };
    const call = new Call(request, clock, {
      onEntry: (entry) => eventLog.append(entry),
      onState: (changed) => notifier.notify(changed, side.messagesOf(changed)),
    });
    const prepared = prepare(call);
    const running = call.timeline.run(async () => {
      call.begin();
      await runCall(call, callParts);
    });
    calls.add(
      call,
      running.then(() => call.delivered),
    );
    return prepared;
  };
};
