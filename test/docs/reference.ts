import { registerHooks } from "node:module";
import type { LogLevel as Level, TypeDocOptionMap } from "typedoc";
import { entryFiles, path, url } from "./sources.ts";

// TypeDoc must read the sources with the project's own compiler: beside it there is an old one, of a tool.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier,
      specifier === "typescript" ? { ...context, parentURL: url("package.json") } : context,
    ),
});
const { Application, Logger, LogLevel } = await import("typedoc");

/** Whatever has a name of its own. A property's comment is `deno doc --lint`'s affair. */
const named: TypeDocOptionMap["requiredToBeDocumented"] = [
  "Class",
  "Function",
  "Interface",
  "Method",
  "Module",
  "Accessor",
  "TypeAlias",
  "Variable",
];

class Complaints extends Logger {
  readonly all: string[] = [];

  override log(message: string, level: Level): void {
    // What is written within a type has no name of its own to be looked up by.
    if (level >= LogLevel.Warn && !message.includes(".__type.")) this.all.push(message);
  }
}

/**
 * Checks the comments in `src`. `npm run docs` makes the reference out of them.
 *
 * @returns what is wrong with them: exports without one, links that lead nowhere
 */
export const checkComments = async (): Promise<readonly string[]> => {
  const app = await Application.bootstrap({
    name: "outdial",
    entryPoints: entryFiles(),
    tsconfig: path("tsconfig.json"),
    readme: path("README.md"),
    excludePrivate: true,
    disableGit: true,
    disableSources: true,
    // `types/` checks the types.
    skipErrorChecking: true,
    requiredToBeDocumented: named,
    validation: {
      notExported: false,
      notDocumented: true,
      invalidLink: true,
      invalidPath: true,
      rewrittenLink: true,
    },
  });
  const complaints = new Complaints();
  app.logger = complaints;
  const project = await app.convert();
  if (project) app.validate(project);
  return project ? complaints.all : ["The sources can't be read.", ...complaints.all];
};
