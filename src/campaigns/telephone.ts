/** Countries whose mobiles have a second spelling, with a digit after the country's code that no other number has. */
const mobiles: readonly (readonly [long: RegExp, short: string])[] = [
  [/^\+521(?=[2-9]\d{9}$)/, "+52"], // Mexico
  [/^\+549(?=[1-8]\d{9}$)/, "+54"], // Argentina
];

/**
 * The one spelling by which a telephone is known: two numbers with the same are the same telephone. It is compared, not
 * called: which of the two spellings rings depends on the service.
 */
export const telephoneOf = (to_number: string): string => {
  const [long, short = ""] = mobiles.find(([pattern]) => pattern.test(to_number)) ?? [];
  return long ? to_number.replace(long, short) : to_number;
};
