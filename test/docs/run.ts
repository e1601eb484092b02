/** `npm run docs`: makes the API reference, and says what is wrong with it. */
import { makeReference } from "./reference.ts";
import { path } from "./sources.ts";

const complaints = await makeReference(path("docs/api"));
for (const complaint of complaints) console.error(complaint);
console.log("The reference is in docs/api/index.html.");
if (complaints.length > 0) process.exitCode = 1;
