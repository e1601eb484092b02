/** What a caller knows at the end of an attempt. */
export type Outcome = "placed" | "refused" | "maybe";

/** One kind of call: how often it is made, and what it may come to. */
export interface Kind {
  readonly name: string;
  /** Of 1,000 calls. */
  readonly share: number;
  readonly to_number: string;
  readonly outcome: Outcome;
  /** Whether the service takes the call; `"either"` where that is a matter of time. */
  readonly taken: boolean | "either";
  readonly flow?: "hangup" | "play" | "dial";
  readonly record?: false;
  readonly path?: "calls" | "voice/calls";
  readonly apiKey?: string;
  readonly timeout?: number;
  /** The caller's signal aborts after so many milliseconds. */
  readonly abort?: number;
  /** What the wire does with the request. */
  readonly wire?: "lose before" | "lose after";
}

const good = { outcome: "placed", taken: true } as const;
const unknown = { outcome: "maybe", taken: true } as const;
/** The deadline may come before the call reaches the service. */
const late = { outcome: "maybe", taken: "either", timeout: 500 } as const;

/** 950 calls as they should be, refusals among them, and 50 with faults. */
export const kinds: readonly Kind[] = [
  { name: "answered, hung up", share: 300, to_number: "+12025550100", flow: "hangup", ...good },
  { name: "answered, played", share: 200, to_number: "+12025550106", flow: "play", ...good },
  { name: "answered, dialled on", share: 100, to_number: "+12025550107", flow: "dial", ...good },
  { name: "not recorded", share: 60, to_number: "+12025550100", record: false, ...good },
  { name: "by the first path", share: 50, to_number: "+12025550100", path: "calls", ...good },
  { name: "by the other path", share: 50, to_number: "+12025550100", path: "voice/calls", ...good },
  { name: "busy", share: 40, to_number: "+12025550101", ...good },
  { name: "rejected", share: 40, to_number: "+12025550103", ...good },
  { name: "unreachable", share: 40, to_number: "+12025550104", ...good },
  { name: "hung up midway", share: 40, to_number: "+12025550105", flow: "play", ...good },
  {
    name: "a wrong key",
    share: 15,
    to_number: "+12025550100",
    apiKey: "ak_wrong",
    outcome: "refused",
    taken: false,
  },
  { name: "no number", share: 15, to_number: "12", outcome: "refused", taken: false },
  { name: "fault: 429", share: 5, to_number: "+12025550111", outcome: "refused", taken: false },
  { name: "fault: 503", share: 5, to_number: "+12025550110", outcome: "maybe", taken: false },
  { name: "fault: no head", share: 5, to_number: "+12025550112", ...late },
  { name: "fault: half a body", share: 5, to_number: "+12025550113", ...late },
  { name: "fault: dropped", share: 5, to_number: "+12025550114", ...unknown },
  { name: "fault: not JSON", share: 5, to_number: "+12025550115", ...unknown },
  {
    name: "fault: lost before the service",
    share: 5,
    to_number: "+12025550100",
    ...unknown,
    wire: "lose before",
    taken: false,
  },
  {
    name: "fault: lost after the service",
    share: 5,
    to_number: "+12025550100",
    ...unknown,
    wire: "lose after",
    taken: "either", // Not when the answer that is lost is a refusal of the old key.
  },
  {
    name: "fault: aborted while it waits",
    share: 5,
    to_number: "+12025550112",
    ...late,
    abort: 50,
  },
  {
    name: "fault: aborted at once",
    share: 5,
    to_number: "+12025550112",
    ...late,
    abort: 1,
  },
];
