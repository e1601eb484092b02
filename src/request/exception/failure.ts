import { NetworkException } from "../../errors.ts";
import { quietly } from "../../rules/quietly.ts";
import type { Redaction } from "./redact.ts";

/**
 * What platforms say when no connection was made, so that nothing was sent: a name that has no address,
 * a port where nobody listens, a connect that took too long, and a certificate that the handshake
 * refused. A TLS alert isn't among them: with TLS 1.3 one may come after the request.
 */
const unconnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ERR_TLS_CERT_ALTNAME_INVALID|(DEPTH_ZERO_)?SELF_SIGNED_CERT(_IN_CHAIN)?|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/;

/** The network's reasons, which count where it was connecting: a read may fail for them too. */
const unreachable = /^E((NET|HOST)UNREACH|TIMEDOUT)$/;

/** Where there is no code: Deno's connect and refusals, and a port that fetch blocks. */
const unsent =
  /^(error sending request for url \(\S+\): client error \(Connect\): |Requires net access to |Fetch failed: Requests to port \d+ are blocked$|bad port$)/;

/** What a platform's error says. */
type Said = Readonly<Record<"code" | "syscall" | "message", string>>;

/** What the innermost error says: ky and fetch wrap it in errors that hold the request. */
const saidBy = (error: unknown, depth = 5): Said => {
  const { cause, code = "", syscall = "", message = "" } = Object(error);
  return cause && depth
    ? saidBy(cause, depth - 1)
    : { code: String(code), syscall: String(syscall), message: String(message) };
};

/** Whether nothing can have been sent. */
const neverConnected = ({ code, syscall, message }: Said): boolean =>
  code
    ? (unconnected.test(code) && !/read|write/.test(syscall)) ||
      (unreachable.test(code) && syscall === "connect")
    : unsent.test(message);

/**
 * The exception for a request that gave no answer.
 *
 * @param isPlatforms - whether the platform's own `fetch` failed, before any head came. A `fetch` of the
 * caller's may have sent the request, and then failed to connect for something else
 */
export const networkException = (
  error: unknown,
  { words }: Redaction,
  isPlatforms: boolean,
): NetworkException => {
  const said = quietly(() => saidBy(error)); // Its getters may throw.
  const { code = "", message = "" } = said ?? {};
  // Bun's message begins with its code.
  const known = message.startsWith(code) ? [message] : [code, message];
  const told = ["The connection failed", ...known].filter(Boolean).join(": ");
  return new NetworkException(words(told) ?? "The connection failed", {
    placed: isPlatforms && said && neverConnected(said) ? "no" : "maybe",
  });
};
