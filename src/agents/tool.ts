/** What a tool is told about its use. */
export interface ToolContext {
  /** Aborts when nobody waits for its answer any more. */
  readonly signal: AbortSignal;
}

/** Something that an agent can do. */
export interface Tool {
  /** What it does and when to use it, for the model. */
  readonly description: string;
  /** A JSON schema of its arguments; `@valibot/to-json-schema` makes one of a valibot schema. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Does it. What it gives is told to the model: text as it is, anything else as JSON. What it throws is
   * told to `onError`, and the model hears that it failed. Check the arguments: a model wrote them.
   */
  readonly run: (args: unknown, context: ToolContext) => unknown;
}

/** Tools by their names. */
export type Tools = Readonly<Record<string, Tool>>;

/** The name of the tool that is built in. */
export const hangUp = "hang_up";

/** A tool, as it is described to a model. */
export interface Offer {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
}

const hangUpOffer = {
  description: "Ends the call. Say goodbye first: it is heard to its end.",
  parameters: undefined,
};

/** What a model is told that it can do: the tools, and to hang up, unless one of them is called so. */
export const offered = (tools: Tools = {}): readonly Offer[] =>
  Object.entries({ ...tools, [hangUp]: tools[hangUp] ?? hangUpOffer }).map(
    ([name, { description, parameters }]) => ({
      name,
      description,
      parameters: parameters ?? { type: "object", properties: {} },
    }),
  );
