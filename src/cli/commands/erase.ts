import { existsSync } from "node:fs";
import type { KeptRecording, OpenedLedger } from "../../campaigns/index.ts";
import type { RecordingFiles } from "../../campaigns/recordings.ts";
import { BadParametersException } from "../../index.ts";
import { type Command, defineCommand, type Exit, exits, Failure, UsageError } from "../command.ts";
import { numberReader } from "../dial/numbers.ts";
import { deleteFiles } from "../dial/recordings.ts";
import { signingSecretIn, withLedger } from "../ledger.ts";
import { codeOf, plain } from "../terminal.ts";

/** @throws {Failure} if a file can't be deleted: nobody is erased then, so that the command can be repeated */
const deleteRecordings = (
  { folders, campaign }: RecordingFiles,
  recordings: readonly KeptRecording[],
): Promise<number> =>
  deleteFiles(folders, campaign, recordings).catch((error: unknown) => {
    throw new Failure(
      `a recording cannot be deleted (${codeOf(error) ?? "unknown"}): repeat the command`,
      exits.refused,
    );
  });

/** @throws {Failure} if a folder of somebody's recordings is away, as a disk may be: its files would stay */
const requireFolders = (
  { folders }: RecordingFiles,
  recordings: readonly KeptRecording[],
): void => {
  const away = recordings.length > 0 && folders.find((folder) => !existsSync(folder));
  if (!away) return;
  throw new Failure(
    `a folder of recordings is away, and nobody was erased: put ${plain(away)} back, or make an empty one in its place if its files were deleted, and repeat the command`,
    exits.refused,
  );
};

/** What was deleted, and what only the service can delete. */
const recordingLines = (
  recordings: readonly KeptRecording[],
  deleted: number,
): readonly string[] => {
  if (recordings.length === 0) return [];
  const ids = recordings.map(({ recording_id }) => recording_id);
  return [
    `files of recordings deleted: ${deleted}`,
    `recordings at the service, which you delete there: ${ids.join(" ")}`,
  ];
};

/** `outdial erase`: deletes the data of people from a ledger. */
export const command: Command = defineCommand({
  args: ["ledger", "number…"],
  example: "erase people.outdial +12025550100",
  flags: {},
  exits: {
    0: "nothing of them is in the ledger, and none of them will be called again",
    1: "a recording could not be deleted, or its folder is away",
    2: "the command line or the ledger is wrong",
  },
  notes: [
    `No byte of number, id, variables and answers stays in the file; how a call ended is still counted.
An HMAC of the number by SIGNING_SECRET, which the campaign has signed its URLs with, keeps it from
being called again. It works while the list is dialled.`,
    `The files that dial --recordings has fetched of them are deleted. Recordings stay at the service:
their ids are printed, so that you can delete them there.`,
    `The list, a file of --do-not-call or --opt-outs, and results that were written before still have
the number: take it out there, too. Each number of a person is erased by itself.`,
  ],
  run: async ({ args: [file = "", ...numbers], env, terminal }) => {
    const options = signingSecretIn(env);
    if (options.secret === undefined) {
      throw new UsageError("SIGNING_SECRET is not set: that of the campaign marks who was erased");
    }
    const read = await numberReader();
    const all = numbers.map((each) => read(each).number ?? each);
    const erase = async (
      ledger: OpenedLedger,
      recordingsOf: () => RecordingFiles,
    ): Promise<Exit> => {
      try {
        // Their names are in the ledger until it is erased there.
        const files = recordingsOf();
        const recordings = files.of(all);
        requireFolders(files, recordings);
        const deleted = await deleteRecordings(files, recordings);
        const erasedRecordings = files.erased();
        try {
          const erased = await ledger.erase(all);
          const others = all.length - erased;
          await terminal.print(
            `${erased} erased${others > 0 ? `, ${others} not in the ledger: marked, and never called` : ""}`,
          );
        } finally {
          // Also where only some were erased: the ledger doesn't know theirs any more. One may have come meanwhile.
          const gone = erasedRecordings();
          const late = await deleteRecordings(files, gone);
          for (const line of recordingLines(gone, deleted + late)) await terminal.print(line);
        }
        return exits.done;
      } catch (error) {
        if (!(error instanceof BadParametersException)) throw error;
        throw new UsageError("each number must be E.164, and none was erased");
      }
    };
    return withLedger(file, erase, options);
  },
});
