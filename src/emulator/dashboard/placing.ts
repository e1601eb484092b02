import type { CallParams } from "../../calls/params.ts";
import { isRecord, withoutThrowing } from "../../lib/check.ts";
import type { CarrierClient } from "../../options.ts";
import type { RequestedCall } from "../../server/call.ts";
import { messageOf } from "../../server/outgoing.ts";
import type { Emulator } from "../emulator.ts";

/** The parameters of a sample call, without the number that is called. */
export type SampleCall = Omit<RequestedCall, "to_number" | "flow">;

/** How the page places calls. */
export interface Placing {
  /**
   * The initial fields of the form that places a call.
   *
   * @param origin - the emulator's own
   */
  readonly sample: (origin: string) => SampleCall;
  /** Makes the request for a call, in the form of the interface that the emulator speaks. */
  readonly encodeCall: CarrierClient["encodeCall"];
  /** A command for a shell that places a call. The page has a button that copies it. */
  readonly commandFor: (params: CallParams, origin: string) => string | Promise<string>;
}

/** The API's response to a call that was placed on the page. */
export interface PlacedCall {
  /** Absent when no response came. */
  readonly status?: number;
  /** The id of the call, if it was placed. */
  readonly id?: string | undefined;
  /** The message of the response, or why there is none. */
  readonly message: string;
}

/** How long the API may take, in milliseconds: in some scenarios it never responds. */
const placeTimeout = 2_000;

const fieldMessage = (error: unknown): string =>
  isRecord(error) && Array.isArray(error.loc) ? `${error.loc.at(-1)}: ${error.msg}` : "";

/** The message of a response in outdial's own form; any other text is one itself. */
const responseMessage = (text: string): string => {
  const body: unknown = withoutThrowing(() => JSON.parse(text));
  if (!isRecord(body)) return text;
  const { detail, message, status } = body;
  if (Array.isArray(detail)) return detail.map(fieldMessage).join(", ");
  return String(detail ?? message ?? status);
};

/** Places a call through the API, with the key that the page does not have. It never throws. */
export const placeCall = async (
  emulator: Emulator,
  origin: string,
  params: CallParams,
  { encodeCall }: Placing,
): Promise<PlacedCall> => {
  const known = new Set(emulator.calls.map(({ id }) => id));
  try {
    const { url, headers, body, headOf } = await encodeCall(params, origin, emulator.apiKey);
    const signal = AbortSignal.timeout(placeTimeout);
    const response = await emulator.fetch(url, { method: "POST", headers, body, signal });
    const text = await response.text();
    const head = headOf?.(new Response(text, response), url, signal);
    // Empty for what the carrier's reader can't read.
    const ownText = await head?.source.text?.();
    const { to_number } = params;
    const placed = emulator.calls.find(
      (call) => call.to_number === to_number && !known.has(call.id),
    );
    return {
      status: response.status,
      message: responseMessage(ownText || text),
      ...(placed && { id: placed.id }),
    };
  } catch (error) {
    return { message: messageOf(error) };
  }
};
