import { expect, test } from "vitest";
import { carriers } from "../../../src/carriers/carriers.ts";
import { filesOf, isTarget, targets, targetsOf } from "../../../src/cli/init/project.ts";
import { filled } from "../../../src/cli/init/template.ts";

const filling = { conditions: { a: true, b: false }, values: { name: "Ada" } };

test("what is marked is written where its condition holds, with its values and its indentation", () => {
  const template = [
    ...["first {name}", "  //~ a: is {name}, {other}", "  //~ !a: not", "#~ b: not", "#~ !b:"],
    ...["//~ b", "not", "//~ end", "//~ a", "  second", "//~ end", "last"],
  ].join("\n");
  const lines = ["first {name}", "  is Ada, {other}", "", "  second", "last"];
  expect(filled(template, filling)).toBe(lines.join("\n"));
});

test("a condition that no project has is a mistake in a template", () => {
  expect(() => filled("//~ c: x", filling)).toThrow(
    new TypeError("a template has an unknown mark: c"),
  );
});

const services = [undefined, ...Object.values(carriers).map(({ project }) => project)];

test.each(Object.keys(targets).filter(isTarget))(
  "%s: no mark and no name of a value is left in a project",
  (target) => {
    for (const service of services) {
      const source = { kind: "registry", range: "^1.2.3" } as const;
      for (const template of ["reminder", "agent"] as const) {
        if (!targetsOf(template).includes(target)) continue;
        const kind = { target, template, service };
        for (const text of Object.values(filesOf(kind, "/some/folder", source))) {
          expect(text).not.toMatch(/(\/\/|#)~|(?<!\$)\{\w+\}/);
        }
      }
    }
  },
);
