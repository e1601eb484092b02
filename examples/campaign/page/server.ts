import type { EndedCalls, Figures, Progress } from "outdial/campaigns";
import type { Sample } from "outdial/campaigns/workers";
import { input } from "./elements.ts";

type Hours = Readonly<Record<"days" | "from" | "to" | "timezone", string>>;

/** A campaign as the Worker shows it. */
export interface View {
  readonly id: string;
  readonly name: string;
  readonly plan: {
    readonly rate?: number;
    readonly window: "always" | Hours | readonly Hours[];
  };
  readonly recorded: boolean;
}

/** The result of an upload. */
export interface Uploaded {
  readonly added: number;
  readonly duplicate: number;
  readonly refused: number;
  readonly lines: readonly { readonly line: number; readonly reason: string }[];
}

/** A field of a request that the Worker refused. */
interface Issue {
  readonly param: string;
  readonly message: string;
}

/** A request that the Worker refused, with a message for the user. */
export class Refusal extends Error {
  /** The fields that break a rule, if it is for those. */
  readonly issues: readonly Issue[];

  constructor(message: string, issues: readonly Issue[] = []) {
    super(message);
    this.issues = issues;
  }
}

const messages: Readonly<Record<string, string>> = {
  unauthorized: "This token is unknown.",
  too_many_campaigns: "This token has made too many campaigns today.",
  unknown_campaign: "There is no such campaign.",
  other_campaign: "The Worker calls from another number, or another service, than this campaign.",
  failed: "The Worker has failed. You can try again: nothing is done twice.",
};

const ask = async (method: string, path: string, body?: BodyInit): Promise<Response> => {
  const headers = { Authorization: `Bearer ${input("token").value}` };
  let response: Response;
  try {
    response = await fetch(path, { method, headers, ...(body !== undefined && { body }) });
  } catch {
    throw new Refusal("The Worker does not respond. Calls continue without this page.");
  }
  if (response.ok) return response;
  const { error, message, issues, added } = await response.json().catch(() => ({}));
  const some =
    added === 1
      ? "1 contact of the lines before was"
      : `${added} contacts of the lines before were`;
  const kept = added > 0 ? `. ${some} added.` : "";
  throw new Refusal((message ?? messages[error] ?? `Refused: ${error}`) + kept, issues);
};

/** The requests of the page. */
export const server = {
  list: async (): Promise<readonly View[]> => (await ask("GET", "/campaigns")).json(),
  begin: async (plan: unknown): Promise<View> =>
    (await ask("POST", "/campaigns", JSON.stringify(plan))).json(),
  progress: async (id: string): Promise<Progress> =>
    (await ask("GET", `/campaigns/${id}/progress`)).json(),
  history: async (id: string): Promise<readonly Sample[]> =>
    (await ask("GET", `/campaigns/${id}/history`)).json(),
  add: async (id: string, list: Blob): Promise<Uploaded> =>
    (await ask("PUT", `/campaigns/${id}/contacts`, list)).json(),
  change: async (id: string, what: "start" | "pause" | "cancel"): Promise<Progress> =>
    (await ask("POST", `/campaigns/${id}/${what}`)).json(),
  stop: async (id: string): Promise<EndedCalls> =>
    (await ask("POST", `/campaigns/${id}/stop`)).json(),
  callBack: async (id: string, to_number: string, at: Date): Promise<boolean> => {
    const body = JSON.stringify({ to_number, at });
    return (await (await ask("POST", `/campaigns/${id}/call_back`, body)).json()).agreed;
  },
  figures: async (id: string, from: number): Promise<Figures> =>
    (await ask("GET", `/campaigns/${id}/figures?from=${from}`)).json(),
  results: async (id: string, only = ""): Promise<Blob> =>
    (await ask("GET", `/campaigns/${id}/results${only && `?only=${only}`}`)).blob(),
};
