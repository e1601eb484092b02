import type { CallParams } from "../../calls/params.ts";
import type { Emulator } from "../emulator.ts";

/** What came of a call that was placed on the page. */
interface Placed {
  /** Absent when no answer came. */
  readonly status?: number;
  /** What the answer says, in a few words. */
  readonly said: string;
}

/** What a test call says, but for the number that it dials. */
export type Sample = Omit<CallParams, "to_number">;

/** How long the API may take, in milliseconds: some numbers make it say nothing at all. */
const patience = 2_000;

const fieldOf = ({ loc, msg }: { readonly loc: readonly string[]; readonly msg: string }): string =>
  `${loc.at(-1)}: ${msg}`;

const wordsOf = (text: string): string => {
  try {
    const { detail, message } = JSON.parse(text);
    return Array.isArray(detail) ? detail.map(fieldOf).join(", ") : String(detail ?? message);
  } catch {
    return text;
  }
};

/** Places a call as any client would, with the key that the page does not have. It never throws. */
export const place = async (
  { apiKey, fetch }: Emulator,
  origin: string,
  body: string,
): Promise<Placed> => {
  try {
    const response = await fetch(`${origin}/api/v1/calls/initiate`, {
      method: "POST",
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body,
      signal: AbortSignal.timeout(patience),
    });
    return { status: response.status, said: wordsOf(await response.text()) };
  } catch (error) {
    return { said: String(Object(error).message ?? error) };
  }
};
