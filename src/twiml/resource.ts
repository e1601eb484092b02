import type { EventData } from "../callbacks/event.ts";
import { stateAfter } from "../calls/live-call.ts";
import { isText } from "../lib/check.ts";
import type { CarrierLive } from "../service.ts";
import { statuses } from "./forms.ts";

/** What a carrier's calls have otherwise than another's. */
interface Resource {
  /** Who answered, in the words of `EventData`, where the carrier has another one. */
  readonly answeredBy?: ReadonlyMap<unknown, EventData["answered_by"]>;
}

const textOf = (value: unknown): string => (isText(value) ? value : "");

/** Reads a call as the REST API of Twilio's form returns it. */
export const resourceReader =
  ({ answeredBy }: Resource): CarrierLive["read"] =>
  ({ sid, from, to, status, duration, answered_by }) => {
    if (!isText(sid) || !sid) return;
    // A queued call has not begun: no notification says so.
    const known = statuses.get(status === "queued" ? "initiated" : status);
    const machine = answeredBy?.get(answered_by) ?? answered_by;
    return {
      id: sid,
      from_number: textOf(from),
      to_number: textOf(to),
      state: stateAfter.get(known?.type),
      ...(known?.reason && { reason: known.reason }),
      ...(status === "completed" &&
        /^\d+$/.test(String(duration)) && { duration: Number(duration) }),
      ...(isText(machine) && machine && { answered_by: machine }),
    };
  };
