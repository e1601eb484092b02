/** A request that an application got. */
export interface Received {
  /** The call. */
  readonly id: string;
  /** The path and the fields, without the values that differ in each call. */
  readonly text: string;
}

/** Ids, times, durations and URLs. */
const differs = /sid|id$|uuid|time|at$|url|duration|legacy|^outdial$/i;

const flat = (value: unknown, at = ""): readonly (readonly [string, string])[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, one]) => flat(one, at ? `${at}.${name}` : name))
    : [[at, String(value)]];

const fieldsOf = (text: string): Record<string, string> =>
  text.startsWith("{")
    ? Object.fromEntries(flat(JSON.parse(text)))
    : Object.fromEntries(new URLSearchParams(text));

/** What an application received with a request; `undefined` for one of media. */
export const receivedIn = async (request: Request): Promise<Received | undefined> => {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname.endsWith(".wav")) return;
  const fields = { ...Object.fromEntries(searchParams), ...fieldsOf(await request.text()) };
  const shown = Object.entries(fields).map(([name, value]) =>
    differs.test(name) ? name : `${name}=${value}`,
  );
  return {
    id: fields.call_id ?? fields["data.call_id"] ?? fields.CallSid ?? fields.uuid ?? "",
    text: [pathname, ...shown].join(" "),
  };
};
