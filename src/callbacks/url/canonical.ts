/** The one spelling of what may be spelled in several ways: a character or an escape. */
const spelled = (one: string): string => {
  const code = one.length > 1 ? Number(`0x${one.slice(1)}`) : one.charCodeAt(0);
  const character = String.fromCharCode(code);
  return /[\w.~!()*-]/.test(character)
    ? character
    : `%${code < 16 ? 0 : ""}${code.toString(16)}`.toUpperCase();
};

/**
 * The path and the query of a URL in one spelling, whatever a client, a proxy or a server made of it
 * on its way: as the URL standard parses it (so it is ASCII, and no dot segment is left), escapes in
 * upper case, none for what clients take for plain (RFC 3986 and before it RFC 2396), and one for all
 * that a URI can't hold, a bare `%` too. What the RFCs call different stays different, such as `%2F` and
 * `/`, or `+` and `%20`.
 */
export const canonical = ({ pathname, search }: URL): string =>
  (pathname + search).replace(/%[\da-f]{2}|[^\w.~!()*$&+,;=:@/?-]/gi, spelled);
