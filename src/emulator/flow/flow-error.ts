/** A flow that can't be followed: which field of which step, and why. */
export class FlowError extends Error {
  override readonly name = "FlowError" as const;
  readonly step: number;
  /** The field, such as `flow_url` or `on_busy.media_url`. */
  readonly field: string;

  /** @param rule - the end of a sentence that starts with the field */
  constructor(step: number, field: string, rule: string) {
    super(`step ${step}: ${field} ${rule}`);
    this.step = step;
    this.field = field;
  }
}
