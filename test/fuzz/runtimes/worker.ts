import "../wire/fetch.ts"; // Before the package.
import { fuzzAll } from "../fuzz.ts";

/** The fuzz in a Cloudflare Worker. */
export default {
  async fetch(request: Request): Promise<Response> {
    try {
      return new Response(`FUZZED ${JSON.stringify(await fuzzAll(await request.json()))}`);
    } catch (error) {
      return new Response(String(Object(error).stack));
    }
  },
};
