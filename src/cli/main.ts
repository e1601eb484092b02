#!/usr/bin/env node
/// <reference types="node" />

/** What to type instead on an old version of Node; Deno and Bun report a newer one. */
const hint = (version: string): string =>
  `outdial: it needs Node 22.13 or later, and this is Node ${version}: ` +
  `npx --yes node@24 ${process.argv[1]} … runs it\n`;

const { node } = process.versions;
const [major = 0, minor = 0] = node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(hint(node));
  process.exitCode = 2;
} else {
  // Loaded afterwards: an old version lacks what it imports.
  await import("./start.ts");
}

export {};
