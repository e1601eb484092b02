import { custom, type GenericSchema, optional, strictObject } from "valibot";
import { refusedHeader } from "../callbacks/errors.ts";
import { signUrl } from "../callbacks/signed-url.ts";
import { withDeadline } from "../http/deadline.ts";
import { check, fieldsOf, isFunction, presence } from "../lib/check.ts";
import type { ServiceSettings } from "./options.ts";

/** The options of `campaign.check`. */
export interface CheckOptions {
  /** Makes the two requests: the platform's, or that of a test. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Ends the check. */
  readonly signal?: AbortSignal | undefined;
}

/** What the handler of a URL answered. */
export interface UrlCheck {
  /** The option of the campaign that has the URL. */
  readonly param: "flow_url" | "status_callback_url";
  /** The name of the service that has it, where the campaign has several. */
  readonly service?: string | undefined;
  /**
   * `accepted`: it verifies by the campaign's secret. `refused`: it does not, so every call of the campaign would fail.
   * `unclear`: it doesn't say, as other servers than `flowHandler` and `callbackHandler`.
   */
  readonly result: "accepted" | "refused" | "unclear";
  /** The HTTP status of its answer; absent where none came. */
  readonly status?: number | undefined;
  /** Why, in a sentence that begins with the option's name; empty when it is accepted. */
  readonly message: string;
}

const CheckOptionsSchema: GenericSchema<unknown, CheckOptions> = strictObject(
  {
    fetch: custom<CheckOptions["fetch"]>(isFunction, "must be a function"),
    signal: optional(
      custom<AbortSignal>(
        (value) => isFunction(fieldsOf(value).addEventListener),
        "must be a signal",
      ),
    ),
  },
  presence,
);

/** How long a handler has to answer, in milliseconds. */
const timeout = 5_000;

/** Seconds for which the URL of a check is valid: it names no contact, and starts nothing. */
const expiresIn = 60;

const unclear = (
  param: UrlCheck["param"],
  why: string,
  { status, advice = "" }: { readonly status?: number; readonly advice?: string } = {},
): UrlCheck => ({
  param,
  result: "unclear",
  ...(status !== undefined && { status }),
  message: `${param} ${why}: whether its handler has the campaign's secret is not known${advice}`,
});

const verdictOf = (
  param: UrlCheck["param"],
  { status, headers }: Pick<Response, "status" | "headers">,
): UrlCheck => {
  if (status === 204) return { param, result: "accepted", status, message: "" };
  const reason = status === 401 ? headers.get(refusedHeader) : null;
  // A header may have any text.
  if (reason !== null && /^\w{1,40}$/.test(reason)) {
    const message = `${param} refused a URL that the campaign's secret has signed (${reason}): the secret of its handler must be the same`;
    return { param, result: "refused", status, message };
  }
  const advice = status === 404 || status === 405 ? "; mount the handler for HEAD, too" : "";
  return unclear(param, `answered HTTP ${status} to a HEAD`, { status, advice });
};

/** A URL of a campaign that is signed for a check. */
export interface SignedUrl extends Pick<UrlCheck, "param" | "service"> {
  readonly url: string;
}

/** Signs the URLs of the services of a campaign for a check. */
export const signedUrls = (services: readonly ServiceSettings[]): Promise<readonly SignedUrl[]> =>
  Promise.all(
    services.flatMap((settings) =>
      (["flow_url", "status_callback_url"] as const).map(async (param) => ({
        param,
        service: settings.name,
        url: await signUrl(settings[param], { secret: settings.secret, expiresIn }),
      })),
    ),
  );

/**
 * Asks the handlers of a campaign whether they have its secret.
 *
 * @param signed - returns the URLs of the handlers, signed for a check
 */
export const checkUrls = async (
  options: CheckOptions,
  signed: () => Promise<readonly SignedUrl[]>,
): Promise<readonly UrlCheck[]> => {
  const { fetch, signal: caller } = check(CheckOptionsSchema, () => options, "options");
  const ask = async ({ param, url }: SignedUrl): Promise<UrlCheck> => {
    const late = (): Error => new DOMException("too late", "TimeoutError");
    try {
      const answer = await withDeadline(timeout, caller, late, (signal) =>
        fetch(url, { method: "HEAD", redirect: "manual", signal }),
      );
      return verdictOf(param, answer);
    } catch (error) {
      if (caller?.aborted) throw error;
      const isLate = fieldsOf(error).name === "TimeoutError";
      const why = isLate ? `gave no answer within ${timeout / 1000} s` : "could not be reached";
      return unclear(param, why);
    }
  };
  return Promise.all(
    (await signed()).map(async (each) => {
      const { service } = each;
      return { ...(await ask(each)), ...(service !== undefined && { service }) };
    }),
  );
};
