/**
 * What a console without an inspect function can show of a value: its text, stack, JSON and own
 * properties, hidden ones too, with their values' own, a few levels deep.
 */
export const inspect = (value: unknown, depth = 4): string => {
  const shown = [String(value)];
  if (Object(value) !== value || depth === 0) return shown.join();
  for (const name of Reflect.ownKeys(Object(value))) {
    shown.push(`${String(name)}: ${inspect(Reflect.get(Object(value), name), depth - 1)}`);
  }
  return shown.join("\n");
};
