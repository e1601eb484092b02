import { createHash } from "node:crypto";
import { access, constants, mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Context } from "../../callbacks/index.ts";
import type { Campaign, KeptRecording, Script, ScriptStep } from "../../campaigns/index.ts";
import { longestId, whenFree } from "../../campaigns/recordings.ts";
import type { RecordingInput } from "../../flows/index.ts";
import { isAnswerName } from "../../flows/recorded.ts";
import { isException } from "../../index.ts";
import { withoutThrowing } from "../../lib/check.ts";
import { exits, Failure } from "../command.ts";
import { isThere, partOf, writeNew } from "../new-file.ts";
import { codeOf } from "../terminal.ts";

/** The ends of the files' names, by the media types of recordings; any other is `audio`. */
const extensions: ReadonlyMap<string, string> = new Map([
  ...["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"].map(
    (type) => [type, "wav"] as const,
  ),
  ...["audio/mpeg", "audio/mp3"].map((type) => [type, "mp3"] as const),
]);

const otherExtension = "audio";

const everyExtension: ReadonlySet<string> = new Set([...extensions.values(), otherExtension]);

const extensionOf = ({ headers }: Response): string => {
  const [type = ""] = (headers.get("content-type") ?? "").toLowerCase().split(";");
  return extensions.get(type.trim()) ?? otherExtension;
};

/** What decides the name of a recording's file. */
type Named = Pick<KeptRecording, "contact" | "attempt" | "recording_id" | "as">;

/**
 * The name of a recording's file, without its end: no telephone number is in it, and nothing of the sender's that could name
 * another folder.
 */
const stemOf = (campaign: string, { contact, attempt, recording_id, as }: Named): string => {
  const digest = createHash("sha256")
    .update(JSON.stringify([campaign, recording_id]))
    .digest("hex");
  const name = isAnswerName(as) ? as : "recording";
  return `${Math.trunc(contact)}-${Math.trunc(attempt)}-${name}-${digest.slice(0, 16)}`;
};

/** The files that a recording may have in a folder. */
const filesOf = (folder: string, stem: string): readonly string[] =>
  [...everyExtension].map((extension) => join(folder, `${stem}.${extension}`));

/**
 * Deletes the files of recordings.
 *
 * @returns how many there were
 * @throws the system's error
 */
export const deleteFiles = async (
  folders: readonly string[],
  campaign: string,
  recordings: readonly Named[],
): Promise<number> => {
  let deleted = 0;
  for (const folder of folders) {
    for (const recording of recordings) {
      const stem = stemOf(campaign, recording);
      // What a process that was killed left of it is deleted, too.
      await rm(partOf(join(folder, stem)), { force: true });
      for (const file of filesOf(folder, stem)) {
        if (!(await isThere(file))) continue;
        await rm(file);
        deleted++;
      }
    }
  }
  return deleted;
};

/**
 * The folder of recordings, which is made if there is none.
 *
 * @returns its absolute path
 * @throws {Failure} if nothing can be written there
 */
export const prepareFolder = async (path: string): Promise<string> => {
  const folder = resolve(path);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(`${folder}/.`, constants.W_OK);
    return folder;
  } catch (error) {
    throw new Failure(
      `--recordings cannot be written (${codeOf(error) ?? "unknown"})`,
      exits.usage,
    );
  }
};

/** A text as a shell takes it. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** The flags that say where a call is. */
interface ServiceFlags {
  readonly "services-file"?: string | undefined;
  readonly service?: string | undefined;
  readonly account?: string | undefined;
  readonly "base-url"?: string | undefined;
}

/**
 * The command that fetches a recording into a file: by its URL, without what signs it, or where that leads to a storage whose
 * URLs end, by its id.
 *
 * @param carrier - the carrier that has it
 */
export const recordingCommand = (
  { call_id, recording_id, recording_url }: RecordingInput,
  file: string,
  flags: ServiceFlags,
  carrier: string | undefined,
): string => {
  const { origin, pathname } = withoutThrowing(() => new URL(recording_url)) ?? {};
  const isShown = carrier !== "telnyx" && !/\/(\+|%2B)?\d{7,}(?=[./]|$)/i.test(`${pathname}`);
  const byId = [
    call_id,
    // outdial's own interface lists no ids: the latest is fetched there.
    ...(carrier === undefined ? [] : ["--recording-id", recording_id.slice(0, longestId)]),
  ];
  const which = origin !== undefined && isShown ? [`${origin}${pathname}`] : byId;
  const given = (["services-file", "service", "account", "base-url"] as const).flatMap((name) => {
    const value = flags[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  return ["outdial", "recording", ...[...which, "--output", file, ...given].map(quoted)].join(" ");
};

/** What is printed of a recording that came after its contact was erased: the ledger, and so `erase`, doesn't have its id. */
export const erasedLine = (recording_id: string): string =>
  `a recording of an erased contact is at the service, which you delete there: ${recording_id.slice(0, longestId)}`;

/** Milliseconds before each further try to fetch a recording. A Telnyx URL lives ten minutes. */
const pauses = [1_000, 5_000, 20_000, 60_000] as const;

/** Whether a failure may pass: the connection, the service itself, or a recording that isn't ready yet. */
const isPassing = (error: unknown): boolean => {
  if (!isException(error)) return false;
  const { name, code = 0 } = error;
  return (
    name === "NetworkException" ||
    name === "TimeoutException" ||
    [404, 408, 425, 429].includes(code) ||
    code >= 500
  );
};

/** Waits, and not for what `signal` ends. */
const pauseFor = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end);
  });

/** The most commands that are printed. */
const mostCommands = 20;

/** What a fetch has beside its URL. */
interface FetchParts {
  readonly service: string | undefined;
  /** Ends it, the body too. */
  readonly signal: AbortSignal;
}

/** What fetches recordings into a folder. */
export interface FolderParts {
  /** Its absolute path. */
  readonly folder: string;
  /** Returns the campaign once it is open. */
  readonly campaign: () => Pick<Campaign, "id" | "contact"> | undefined;
  /** Fetches a recording by its URL, from the service with a name, where the list has several. */
  readonly fetch: (url: string, given: FetchParts) => Promise<Response>;
  /** The command that fetches a recording later. */
  readonly commandFor: (
    recording: RecordingInput,
    file: string,
    service?: string | undefined,
  ) => string;
  /** Prints a line. */
  readonly report: (line: string) => void;
}

/** How many recordings are fetched at once. */
const mostAtOnce = 8;

/** How long a fetch may last, in milliseconds: a body that never ends would keep the command for ever. */
const longestFetch = 3_600_000;

/** How long recordings are waited for that calls have made, in milliseconds. */
const longestWait = 60_000;

const keyOf = ({ contact, attempt }: Context, as: string | undefined): string =>
  JSON.stringify([contact, attempt, as]);

/** Why a recording could not be kept, without its URL. */
const reasonOf = (error: unknown): string => {
  const code = codeOf(error);
  if (code) return code;
  return error instanceof Error ? error.message : "unknown";
};

/** A folder into which the recordings of a list are fetched as they come. */
export class RecordingFolder {
  readonly #parts: FolderParts;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #free = mostAtOnce;
  /** Recordings that calls have made, and that the service doesn't have yet. */
  readonly #expected = new Set<string>();
  /** The commands for those that could not be fetched, by the names of their files: a recording may come twice. */
  readonly #commands = new Map<string, string>();
  /** Aborts when nothing is tried again any more. */
  readonly #last = new AbortController();
  #changed = (): void => {};
  saved = 0;

  constructor(parts: FolderParts) {
    this.#parts = parts;
  }

  /** The same script, whose recordings are waited for. */
  watch(script: Script): Script {
    const watched =
      (step: ScriptStep): ScriptStep =>
      async (given) => {
        const action = await step(given);
        if (action?.action === "record") this.#expected.add(keyOf(given.context, action.as));
        return action;
      };
    const steps = Object.entries(script.steps ?? {}).map(([name, step]) => [name, watched(step)]);
    return {
      ...script,
      onAnswer: watched(script.onAnswer),
      onMachine: script.onMachine && watched(script.onMachine),
      ...(script.steps && { steps: Object.fromEntries(steps) }),
    };
  }

  /** Begins to fetch a recording. It never throws: a recording that can't be fetched is reported and counted. */
  keep(recording: RecordingInput, service?: string | undefined): void {
    const { context, recording_id, as } = recording;
    this.#expected.delete(keyOf(context, as));
    const known = { contact: Number(context.contact), attempt: Number(context.attempt) };
    const { id = "" } = this.#parts.campaign() ?? {};
    const stem = stemOf(id, { ...known, recording_id, as });
    if (this.#underWay.has(stem)) return;
    const work = this.#fetch(stem, recording, service)
      .then(() => void this.#commands.delete(stem))
      .catch((error: unknown) => {
        this.#commands.set(
          stem,
          this.#parts.commandFor(recording, join(this.#parts.folder, `${stem}.wav`), service),
        );
        this.#parts.report(
          `a recording could not be kept (${reasonOf(error)}): it stays at the service`,
        );
      })
      .finally(() => {
        this.#underWay.delete(stem);
        this.#changed();
      });
    this.#underWay.set(stem, work);
    this.#changed();
  }

  /**
   * Waits until every recording that has come is in its file, and for those that calls have made, a minute at most.
   *
   * @param signal - ends the wait for those that haven't come, and further tries
   */
  async complete(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#last.abort();
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    try {
      await this.#complete(signal);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async #complete(signal: AbortSignal): Promise<void> {
    const count = this.#expected.size;
    if (count > 0 && !signal.aborted) {
      this.#parts.report(`recordings that are waited for, a minute at most: ${count}`);
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, longestWait);
      signal.addEventListener("abort", () => late.resolve(), { once: true });
      let isLate = false;
      late.promise.then(() => {
        isLate = true;
      });
      while (this.#expected.size > 0 && !isLate) {
        const changed = new Promise<void>((wake) => {
          this.#changed = wake;
        });
        await Promise.race([changed, late.promise]);
      }
      clearTimeout(timer);
    }
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values());
  }

  /** How many could not be kept. */
  get failed(): number {
    return this.#commands.size;
  }

  /** How many calls have begun to record without a recording that has come: who hangs up may have left none. */
  get missing(): number {
    return this.#expected.size;
  }

  /** What has become of the recordings. */
  get summary(): string {
    const { saved, failed, missing } = this;
    const notKept = failed > 0 ? `; not kept, only at the service: ${failed}` : "";
    const late = missing > 0 ? `; did not come, and may be at the service: ${missing}` : "";
    return `recordings in ${this.#parts.folder}: ${saved}${notKept}${late}`;
  }

  /** How those are fetched later that could not be kept, a line each. */
  get commands(): readonly string[] {
    const more = this.failed - mostCommands;
    return [
      ...[...this.#commands.values()].slice(0, mostCommands),
      ...(more > 0 ? [`and ${more} more, whose ids outdial results has`] : []),
    ];
  }

  /** Fetches a recording, and tries it again after failures that may pass; meanwhile others are fetched. */
  async #fetch(
    stem: string,
    recording: RecordingInput,
    service: string | undefined,
  ): Promise<void> {
    const { signal } = this.#last;
    for (let tries = 0; ; tries++) {
      try {
        return await this.#inSlot(() => this.#save(stem, recording, service));
      } catch (error) {
        const pause = pauses[tries];
        if (pause === undefined || signal.aborted || !isPassing(error)) throw error;
        await pauseFor(pause, signal);
        if (signal.aborted) throw error;
      }
    }
  }

  async #inSlot(work: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  async #save(
    stem: string,
    { context, recording_url }: RecordingInput,
    service: string | undefined,
  ): Promise<void> {
    const { folder, fetch, campaign } = this.#parts;
    const isKnown = (): Promise<boolean> =>
      whenFree(() => campaign()?.contact(context) !== undefined);
    if (!(await isKnown())) return;
    // A notification may come twice.
    for (const file of filesOf(folder, stem)) if (await isThere(file)) return;
    const file = await writeNew(
      join(folder, stem),
      () => fetch(recording_url, { service, signal: AbortSignal.timeout(longestFetch) }),
      (response) => join(folder, `${stem}.${extensionOf(response)}`),
    );
    let isKept = false;
    try {
      // Its contact may have been erased meanwhile.
      isKept = await isKnown();
    } finally {
      if (!isKept) await rm(file, { force: true });
    }
    if (isKept) this.saved++;
  }
}
