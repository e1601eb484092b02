/** A row of results by the names of its columns; no test has a comma in a cell. */
export const rowsOf = (csv: string): readonly Readonly<Record<string, string>>[] => {
  const [header = "", ...lines] = csv.trimEnd().split("\r\n");
  const names = header.split(",");
  return lines.map((line) => {
    const cells = line.split(",");
    return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
  });
};

/** Numbers of a list, the emulator's ordinary ones. */
export const numbersOf = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `+1303${5_550_000 + index}`);

export const listOf = (numbers: readonly string[]): string => `to_number\n${numbers.join("\n")}\n`;
