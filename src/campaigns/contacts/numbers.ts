import { is } from "valibot";
import { CallParams } from "../../calls/params.ts";
import { refuse } from "../../rules/refuse.ts";

/**
 * Numbers one after the other, each of them E.164.
 *
 * @throws {BadParametersException} when one isn't
 */
export function* numbersIn(numbers: string | Iterable<string>): Generator<string, void> {
  for (const number of typeof numbers === "string" ? [numbers] : numbers) {
    if (!is(CallParams.entries.to_number, number)) {
      refuse("to_number", CallParams.entries.to_number.message);
    }
    yield number;
  }
}
