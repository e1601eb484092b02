import { createHmac } from "node:crypto";
import { type LoggedEvent, logLine, type ServerEvent } from "./log.ts";
import { Metrics } from "./metrics.ts";
import { openPages, type Pages, type PagesParts } from "./page/routes.ts";
import type { ExchangeService } from "./parts.ts";
import { Recorder } from "./recorder.ts";
import type { Store } from "./store.ts";

/** What the operator of an exchange sees and keeps. */
export interface OperatorParts {
  readonly store: Store;
  readonly recordings: {
    /** The folder of the files. */
    readonly folder: string;
    /** How long they are kept. */
    readonly days: number;
    /** How much of the disk they may take. */
    readonly megabytes: number;
  };
  /** Writes a line of the log. */
  readonly log: (line: string) => void;
}

/** The recordings, metrics, log and pages of an exchange. */
export interface Operator {
  /** For the service. */
  readonly recorder: Recorder;
  /** Counts an event, logs it, and shows it on the page. */
  readonly onEvent: (event: LoggedEvent) => void;
  /** Opens the pages of a service. They end with the operator. */
  readonly openPages: (
    parts: Omit<PagesParts, "recorder" | "metrics" | "onEvent"> & {
      readonly service: ExchangeService;
    },
  ) => Pages;
  readonly close: () => Promise<void>;
}

const megabyte = 1_000_000;

/** What lets another program of this machine and user erase numbers at a running exchange. */
export const controlTokenOf = (recordingSecret: string): string =>
  createHmac("sha256", recordingSecret).update("outdial exchange control").digest("base64url");

/** Opens what the operator of an exchange sees and keeps. */
export const openOperator = async ({
  store,
  recordings,
  log,
}: OperatorParts): Promise<Operator> => {
  const metrics = new Metrics();
  let pages: Pages | undefined;
  const onEvent = (event: LoggedEvent): void => {
    metrics.add(event);
    log(logLine(event, Date.now()));
    pages?.onEvent(event);
  };
  const recorder = await Recorder.open({
    folder: recordings.folder,
    db: store.database,
    maxDays: recordings.days,
    maxBytes: recordings.megabytes * megabyte,
    onEvent,
  });
  return {
    recorder,
    onEvent,
    openPages: (parts) => {
      pages = openPages({
        ...parts,
        recorder,
        metrics,
        onEvent: (event: ServerEvent) => onEvent(event),
      });
      return pages;
    },
    close: async () => {
      pages?.close();
      await recorder.close();
    },
  };
};
