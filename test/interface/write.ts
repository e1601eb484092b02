// Writes docs/openapi.json and docs/asyncapi.json: npm run interface:write
import { writeFileSync } from "node:fs";
import { documents } from "./documents.ts";

for (const [file, text] of Object.entries(documents())) {
  writeFileSync(new URL(`../../${file}`, import.meta.url), text);
  console.log(`${file}: ${text.length} characters`);
}
