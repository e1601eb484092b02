import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cases } from "../conformance/client/index.ts";
import { startPeer } from "../peer/start.ts";
import { entry } from "./entry.ts";

/** The cases that do not hold with a carrier, by the reason; `client.test.ts` has Twilio's own rule for each. */
const others: Readonly<Record<string, readonly string[]>> = {
  "Twilio's own request": [
    "a call is one POST with the key in its header and the parameters as JSON",
    "baseUrl is taken with and without a slash, a prefix and /api/v1 at its end",
    "fetch is called without this, and the platform's is looked up at each call",
    "onAttempt hears of each POST: where it went, which it was, what came of it",
    "a base URL of slashes takes no longer than another, and one that names the API is understood",
    "headers are read once: what becomes of the object later is not sent",
    "the key has one place: a parameter, a URL or another header that holds it is refused",
  ],
  "Twilio's own answers": [
    "the result is the call under data, or the call bare, with every field that the service sent",
    "the service's own constants are told: reason and type",
    "field errors are understood in both forms",
    "an answer past 1 MiB is refused unread; just below it is read",
    "what comes is counted, whatever length the head gives",
  ],
  "fewer statuses say that nothing was placed": [
    "each HTTP status has its exception, its code and its placed; one POST each",
    "a redirect of any kind is refused, and the key goes nowhere else",
    "whatever bytes a refusal has, there is its exception with its placed, and it is bounded",
  ],
  "the answers of a case are translated whole, so an endless one never is": [
    "an endless body of empty chunks ends",
  ],
  "a carrier has one path": [
    "a wrong path is refused by its name before any request, by create and by Client",
    "when the first path is absent (404, 405, 410) the second one is tried, once",
    "a pinned path is the only one that is tried",
    "a client remembers which path answered; create on its own does not",
  ],
  "a carrier has a baseUrl and other words for its options": [
    "the first mistakes are told with what to do about them, and without a value",
    "a wrong baseUrl is refused by its name before any request, by create and by Client",
    "options that are absent, or that throw when read, are refused",
    "options of a call win over the client's, for that call",
  ],
  "the key is not in X-API-Key, and a 401 asks for another one too": [
    "the key may come from a function, at once or later, asked once a call",
    "after a 403 the function is asked again, and another key is tried once",
    "only a 403 asks again",
  ],
};
const excluded = Object.values(others).flat();

let peer: Awaited<ReturnType<typeof startPeer>>;
beforeAll(async () => {
  peer = await startPeer();
});
afterAll(() => peer.stop());

test.each(cases.filter(({ name }) => !excluded.includes(name)))("$name", ({ run }) =>
  run({ ...entry, runtime: "node24", peer: peer.url, inspect }),
);

test("every case that is left out is one of the list", () => {
  const names = cases.map(({ name }) => name);
  expect(excluded.filter((name) => !names.includes(name))).toEqual([]);
});
