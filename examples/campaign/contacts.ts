import { type Contact, type ListOptions, type RefusedContact, readList } from "outdial/campaigns";

/** The options of a list that a request may choose, by the names of its query. */
const optionsOf = (query: URLSearchParams): ListOptions => ({
  delimiter: query.get("delimiter") ?? undefined,
  encoding: query.get("encoding") ?? undefined,
  numberColumn: query.get("number_column") ?? undefined,
  zoneColumn: query.get("zone_column") ?? undefined,
  optOutColumns: query.getAll("opt_out_column"),
  ignoreColumns: query.getAll("ignore_column"),
});

const names: Readonly<Partial<Record<keyof ListOptions, string>>> = {
  delimiter: "delimiter",
  encoding: "encoding",
  numberColumn: "number_column",
  zoneColumn: "zone_column",
  optOutColumns: "opt_out_column",
  ignoreColumns: "ignore_column",
};

/** An option as it is in the query of a request. */
const optionText: ListOptions["optionText"] = (option, value) => {
  const name = names[option] ?? option;
  return value === undefined ? `?${name}=…` : `?${new URLSearchParams({ [name]: value })}`;
};

/** A list that is being read. */
export interface Upload {
  /** Its contacts. They end where the list can't be read any further. */
  readonly contacts: AsyncIterable<Contact>;
  /** Its rows that are no contact. */
  readonly refused: readonly RefusedContact[];
  /** Why it could not be read to its end. */
  readonly failure: () => unknown;
}

/**
 * Reads a list as `outdial dial` does. It is not kept in memory, so what comes before a mistake is added: the response
 * says how many.
 */
export const uploadOf = (body: ReadableStream<Uint8Array>, query: URLSearchParams): Upload => {
  const refused: RefusedContact[] = [];
  let failure: unknown;
  const contacts = async function* () {
    try {
      const onRefused = (row: RefusedContact) => refused.push(row);
      yield* readList(body, { ...optionsOf(query), optionText, onRefused });
    } catch (error) {
      failure = error;
    }
  };
  return { contacts: contacts(), refused, failure: () => failure };
};
