import type { Asterisk } from "../asterisk/asterisk.ts";

/** What the process that is measured is given. Durations are in milliseconds. */
export interface Given {
  readonly asterisk: Pick<Asterisk, "url" | "user" | "password">;
  /** Where the telephone is: address and port. */
  readonly telephone: string;
  /** The interface that the exchange speaks. */
  readonly side: "outdial" | "twilio";
  readonly patience: number;
  readonly promptDuration: number;
  readonly recordDuration: number;
  /** The file that the recording is written to. */
  readonly recording: string;
}

/** What its parent requests. */
export type Asked =
  | { readonly type: "call"; readonly to: string; readonly flow: string }
  | { readonly type: "stall"; readonly ms: number };

/** What it reports. */
export type Reported =
  | { readonly type: "ready" | "recorded" }
  | { readonly type: "placed"; readonly id: string; readonly to: string }
  /** The model was told how much of its response was played. */
  | { readonly type: "cut"; readonly id: string; readonly played: number };
