/** A scenario of the emulator: the number that picks it, and what happens. */
interface Scenario {
  readonly to_number: string;
  readonly what: string;
}

/** Every scenario, by the word that a user types. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  answered: { to_number: "+12025550100", what: "answers after ringing, and follows the flow" },
  busy: { to_number: "+12025550101", what: "is busy" },
  "no-answer": { to_number: "+12025550102", what: "rings, and nobody answers" },
  rejected: { to_number: "+12025550103", what: "rings, and is rejected" },
  unreachable: { to_number: "+12025550104", what: "can't be reached" },
  "hung-up": { to_number: "+12025550105", what: "answers, and hangs up in the middle of the flow" },
  unavailable: { to_number: "+12025550110", what: "the API answers 503: exit 3" },
  "rate-limited": { to_number: "+12025550111", what: "the API answers 429: exit 1" },
  silent: { to_number: "+12025550112", what: "placed, but the API never answers: exit 3" },
  stalled: { to_number: "+12025550113", what: "placed, but the answer stalls: exit 3" },
  dropped: { to_number: "+12025550114", what: "placed, but the connection drops: exit 3" },
  garbled: { to_number: "+12025550115", what: "placed, but the answer is not JSON: exit 3" },
};
