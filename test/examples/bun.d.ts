/** As much of Bun as its example uses. */
declare const Bun: {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
};
