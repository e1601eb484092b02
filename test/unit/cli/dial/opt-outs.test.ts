import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { numberReader } from "../../../../src/cli/dial/numbers.ts";
import {
  OptOutFile,
  optOutPathOf,
  optOutsIn,
  requireWritable,
} from "../../../../src/cli/dial/opt-outs.ts";

const read = await numberReader();

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "opt-outs-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

test("each number is a line of its own, once, and only its user reads the file", async () => {
  const path = join(newFolder(), "opt-outs.txt");
  const file = await OptOutFile.open(path);
  await Promise.all([
    file.add(["+12025550100", "+12025550101", "+12025550101"]),
    file.add(["+12025550100", "+12025550102"]),
  ]);
  expect(readFileSync(path, "utf8")).toBe("+12025550100\n+12025550101\n+12025550102\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("what is in the file stays, also a last line without its end", async () => {
  const path = join(newFolder(), "opt-outs.txt");
  writeFileSync(path, "+12025550100");
  await (await OptOutFile.open(path)).add(["+12025550101"]);
  expect(readFileSync(path, "utf8")).toBe("+12025550100\n+12025550101\n");
});

test("a file that cannot be written is refused before anybody is called, and later once for each number", async () => {
  const folder = newFolder();
  await expect(OptOutFile.open(folder)).rejects.toThrow("--opt-outs cannot be written (EISDIR)");
  const path = join(folder, "list", "opt-outs.txt");
  await expect(OptOutFile.open(path)).rejects.toThrow("--opt-outs cannot be written (ENOENT)");
});

test("whether a file can be written is found out without making it or changing it", async () => {
  const folder = newFolder();
  const path = join(folder, "opt-outs.txt");
  await requireWritable(path);
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(path, "+12025550100\n");
  await requireWritable(path);
  expect(readFileSync(path, "utf8")).toBe("+12025550100\n");
  for (const [wrong, code] of [
    [folder, "EISDIR"],
    [join(folder, "list", "opt-outs.txt"), "ENOENT"],
    [join(path, "opt-outs.txt"), "ENOTDIR"],
  ] as const) {
    await expect(requireWritable(wrong)).rejects.toThrow(`--opt-outs cannot be written (${code})`);
  }
});

test("a number whose line could not be written is written with the next one", async () => {
  const path = join(newFolder(), "opt-outs.txt");
  const file = await OptOutFile.open(path);
  mkdirSync(path);
  await expect(file.add(["+12025550100"])).rejects.toThrow(
    "--opt-outs cannot be written (EISDIR): who asked is blocked in this ledger only",
  );
  rmSync(path, { recursive: true });
  await file.add(["+12025550101"]);
  expect(readFileSync(path, "utf8")).toBe("+12025550100\n+12025550101\n");
});

test("a line of which the disk took only a part does not stay in the file", async () => {
  const path = join(newFolder(), "opt-outs.txt");
  writeFileSync(path, "+12025550100\n");
  const file = await OptOutFile.open(path);
  const handle = await open(path);
  const full = vi
    .spyOn(Object.getPrototypeOf(handle), "appendFile")
    .mockImplementation(async (lines) => {
      appendFileSync(path, String(lines).slice(0, 10));
      throw Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
    });
  await handle.close();
  await expect(file.add(["+12025550101"])).rejects.toThrow("cannot be written (ENOSPC)");
  expect(readFileSync(path, "utf8")).toBe("+12025550100\n");
  full.mockRestore();
  await file.add(["+12025550102"]);
  expect(readFileSync(path, "utf8")).toBe("+12025550100\n+12025550101\n+12025550102\n");
});

test.each([
  ["the list itself", "phone,id\n+12025550100,1\n"],
  ["a ledger", "SQLite format 3\0\x10\0"],
])(
  "a file that is no list of numbers, such as %s, is refused and stays as it is",
  async (_, text) => {
    const path = join(newFolder(), "people.csv");
    writeFileSync(path, text);
    await expect(optOutsIn(path, read)).rejects.toThrow(
      `the file of --opt-outs (${path}) cannot be read: line 1 `,
    );
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);

test("without the flag it is beside the list, and no file is made before there is a number", async () => {
  const folder = newFolder();
  const list = join(folder, "people.csv");
  expect(optOutPathOf({}, list)).toBeUndefined();
  expect(optOutPathOf({ script: "a.ts", "opt-outs": "own.txt" }, list)).toBe("own.txt");
  const path = optOutPathOf({ script: "a.ts" }, list) ?? "";
  expect(path).toBe(join(folder, "do-not-call.txt"));
  const file = await OptOutFile.open(path);
  expect(readdirSync(folder)).toEqual([]);
  await file.add(["+12025550100"]);
  expect(await optOutsIn(path, read)).toEqual(["+12025550100"]);
});
