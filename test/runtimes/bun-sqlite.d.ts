/** What is used of Bun's own SQLite. */
declare module "bun:sqlite" {
  export class Database {
    constructor(path: string);
    exec(statements: string): unknown;
    prepare(statement: string): {
      all(...values: (string | number | null)[]): Record<string, string | number | null>[];
    };
    close(): void;
  }
}
