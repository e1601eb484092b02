import { isAnswerName, type RecordingInput } from "../flows/recorded.ts";
import { fail, isText } from "../lib/check.ts";
import { keepName } from "./answers.ts";
import { stateOf } from "./attempt-facts.ts";
import { numbersIn } from "./do-not-call.ts";
import { attemptIn, isAtService } from "./notifications.ts";
import type { ServiceSettings } from "./options.ts";
import {
  patience,
  type Row,
  type Sql,
  type Storage,
  shortWait,
  sqlOf,
  whileBusy,
} from "./sqlite.ts";
import { factOf, isErasedIn, setFact, textIn } from "./tables.ts";

/** A recording that a `record` of a flow has made, as the ledger keeps it: where its audio is, only the service knows. */
export interface KeptRecording {
  /** The contact's number in the ledger. */
  readonly contact: number;
  /** Counts the attempts of the contact from 1. */
  readonly attempt: number;
  /** The service's id of it. */
  readonly recording_id: string;
  /** The name that the `record` has given it. */
  readonly as?: string | undefined;
  /** When the service had it, in milliseconds since 1970. */
  readonly at: number;
}

/** The longest id that is kept, in characters. */
export const longestId = 200;

const isId = (id: unknown): id is string =>
  isText(id) && id.length <= longestId && /^[\w:.~-]+$/.test(id);

/** A step's name of a recording; any other one isn't kept. */
const nameIn = (as: unknown): string | null => (isAnswerName(as) ? as : null);

/**
 * Records that the service has a recording, any number of times.
 *
 * @returns whether it is one of a contact that is in the ledger, once that is durable
 * @throws {BadParametersException} when its id is none
 * @throws {LedgerException} `busy`
 */
export const recordRecording = async (
  sql: Sql,
  { context, recording_id, as }: Pick<RecordingInput, "context" | "recording_id" | "as">,
  { clock, name: service }: Pick<ServiceSettings, "clock" | "name">,
): Promise<boolean> => {
  const key = attemptIn(sql, context);
  if (!key) return false;
  return sql.commit(() => {
    if (!isAtService(sql, key, service)) return false;
    if (!isId(recording_id)) {
      fail("recording_id", `must be an id of at most ${longestId} characters`);
    }
    if (stateOf(sql, key) === undefined || isErasedIn(sql, key.contact)) return false;
    const [name, at] = [nameIn(as), clock()];
    if (name !== null) keepName(sql, name, at);
    sql.all(
      "insert into outdial_recording values (?, ?, ?, ?, ?) on conflict do nothing",
      ...[key.contact, key.attempt, recording_id, name, at],
    );
    return true;
  });
};

const recordingIn = (row: Row): KeptRecording => {
  const as = textIn(row.name);
  return {
    contact: Number(row.contact),
    attempt: Number(row.attempt),
    recording_id: String(row.recording_id),
    ...(as !== undefined && { as }),
    at: Number(row.at),
  };
};

/** The recordings of some contacts, in the order in which they came. */
export const recordingsIn = (sql: Sql, first: number, last: number): readonly KeptRecording[] =>
  sql
    .all(
      `select * from outdial_recording where contact between ? and ?
       order by contact, attempt, at, recording_id`,
      first,
      last,
    )
    .map(recordingIn);

/**
 * What is read of a ledger; while another program holds it, it is tried again.
 *
 * @throws {LedgerException} `busy`, after some seconds
 */
export const whenFree = <T>(read: () => T): Promise<T> =>
  whileBusy(read, (triedFor) => triedFor > patience);

/** The start of the names of facts that say where the files of recordings are. */
const folderFact = "recordings:";

/** What of a ledger the files of its recordings need. */
export interface RecordingFiles {
  /** The campaign's id, which each file's name has. */
  readonly campaign: string;
  /** The folders that recordings were fetched into. */
  readonly folders: readonly string[];
  /** Notes a further one. */
  readonly keepFolder: (path: string) => void;
  /**
   * The recordings of the contacts with some numbers.
   *
   * @throws {BadParametersException} when one is no E.164 number
   */
  readonly of: (numbers: Iterable<string>) => readonly KeptRecording[];
  /**
   * Begins to note the recordings of contacts that are erased by this connection.
   *
   * @returns those so far: one may have come until its contact was erased
   */
  readonly erased: () => () => readonly KeptRecording[];
}

/** The recordings that a connection has deleted. */
const erasedTable = "outdial_erased_recording";

/** What a ledger knows of the files of its recordings. */
export const recordingFiles = (storage: Storage): RecordingFiles => {
  const sql = sqlOf(storage, shortWait);
  return {
    campaign: String(factOf(sql, "id")),
    folders: sql
      .all("select name from outdial_fact where name glob ? order by name", `${folderFact}*`)
      .map(({ name }) => String(name).slice(folderFact.length)),
    keepFolder: (path) => sql.transaction(() => setFact(sql, `${folderFact}${path}`, 1)),
    of: (numbers) =>
      [...numbersIn(numbers)].flatMap((number) =>
        sql
          .all("select contact from outdial_contact where to_number = ?", number)
          .flatMap(({ contact }) => recordingsIn(sql, Number(contact), Number(contact))),
      ),
    erased: () => {
      sql.temporarily(() => {
        sql.all(
          `create temp table if not exists ${erasedTable} (contact, attempt, recording_id, name, at)`,
        );
        sql.all(
          `create temp trigger if not exists ${erasedTable}_note after delete on main.outdial_recording begin
             insert into ${erasedTable} values (old.contact, old.attempt, old.recording_id, old.name, old.at);
           end`,
        );
      });
      return () => sql.all(`select * from ${erasedTable}`).map(recordingIn);
    },
  };
};
