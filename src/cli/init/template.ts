import type { ProjectService } from "../../carriers/carrier.ts";
import { isText } from "../../lib/check.ts";

/** What a template is filled with. */
export interface Filling {
  /** Which marked lines are written. */
  readonly conditions: Readonly<Record<string, boolean>>;
  /** The texts of `{name}` in them. */
  readonly values: Readonly<Record<string, string>>;
}

/** A text in which each `{name}` that has a value is replaced by it. */
export const withValues = (text: string, values: Filling["values"]): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);

/** A mark: `//~ condition`, `//~ end`, or `//~ condition: the line`. In a file whose comments begin with `#` it is `#~`. */
const mark = /^( *)(?:\/\/|#)~ (!?\w+)(:?) ?(.*)$/;

/**
 * The text of a template. What stands between `//~ condition` and `//~ end` is written where the condition holds, or does not
 * hold (`!condition`), and so is the line after `//~ condition:`, with its values. A template is a file that works as it is: that of
 * outdial's own interface.
 *
 * @throws {TypeError} for a condition that the filling doesn't have
 */
export const filled = (template: string, { conditions, values }: Filling): string => {
  const holds = (condition: string): boolean => {
    const isNegated = condition.startsWith("!");
    const value = conditions[isNegated ? condition.slice(1) : condition];
    if (value === undefined) throw new TypeError(`a template has an unknown mark: ${condition}`);
    return value !== isNegated;
  };
  let isWritten = true;
  return template
    .split("\n")
    .flatMap((line) => {
      const [isMark, indent = "", condition = "", isLine, text = ""] = mark.exec(line) ?? [];
      if (isMark === undefined) return isWritten ? [line] : [];
      if (isLine) return holds(condition) ? [withValues(text && indent + text, values)] : [];
      isWritten = condition === "end" || holds(condition);
      return [];
    })
    .join("\n");
};

/**
 * What the templates are filled with.
 *
 * @param light - whether the client is that of `outdial/fetch`
 * @param agent - whether the project has a voice agent
 */
export const fillingOf = (
  service: ProjectService | undefined,
  light: boolean,
  agent: boolean,
): Filling => {
  const { redirects = false, reportsPersons = false, verifierIs, verifiedBy } = service ?? {};
  const texts = Object.entries(service ?? {}).filter(
    (field): field is [name: string, text: string] => isText(field[1]),
  );
  return {
    conditions: {
      light,
      carrier: service !== undefined,
      redirects,
      // The carrier requests the flow once the greeting of a machine is over.
      waits: service !== undefined && !redirects,
      // A secret of its own verifies the carrier's requests.
      signs: verifierIs !== undefined,
      reportsPersons,
      verifiesStart: service?.verifiesStart ?? false,
      // The secret of the signatures is the account's own, and not a key of the carrier's.
      sharesSecret: verifiedBy === "signatureSecret",
      agent,
    },
    values: {
      ...Object.fromEntries(texts),
      verifier: verifierIs ? 'setting(env, "OUTDIAL_SIGNATURE_SECRET")' : "apiKey",
    },
  };
};
