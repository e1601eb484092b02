// An AWS Lambda function (Node 22 or newer) that places a call, for the event
// { "to_number": "+12025550100" }. Bundle it and upload handler.mjs:
//
//   npm install outdial esbuild
//   npx esbuild handler.ts --bundle --platform=node --format=esm --outfile=handler.mjs
//
// OUTDIAL_API_KEY, OUTDIAL_BASE_URL, FROM_NUMBER and APP_URL are the function's environment, the key
// encrypted. Give the function more than the 10 s that the client takes at most: an event whose
// function ran out of time is tried again, and would ring twice.
import { Client, isException } from "outdial";

const { OUTDIAL_API_KEY = "", OUTDIAL_BASE_URL = "", FROM_NUMBER = "", APP_URL = "" } = process.env;
const client = new Client(OUTDIAL_API_KEY, { baseUrl: OUTDIAL_BASE_URL });

type Result = { placed: "yes"; call_id: string } | { placed: "maybe" };

export const handler = async (event: { to_number: string }): Promise<Result> => {
  try {
    const call = await client.calls.create({
      from_number: FROM_NUMBER,
      to_number: event.to_number,
      flow_url: `${APP_URL}/flow`,
      status_callback_url: `${APP_URL}/status`,
    });
    return { placed: "yes", call_id: call.id };
  } catch (error) {
    // Lambda tries an event that failed again. That is right only when no telephone has rung.
    if (!isException(error) || error.placed === "no") throw error;
    console.error(error.message);
    return { placed: "maybe" };
  }
};
