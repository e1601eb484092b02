// A Deno script that places a call. Put the key into the environment from a secrets manager, not
// from a file that git knows, then:
//
//   export OUTDIAL_BASE_URL=https://voice.example.com
//   export FROM_NUMBER=+12025550199 APP_URL=https://app.example.com
//   deno run --allow-net=voice.example.com \
//     --allow-env=OUTDIAL_API_KEY,OUTDIAL_BASE_URL,FROM_NUMBER,APP_URL call.ts +12025550100
//
// From a clone, after `npm ci` and with nothing from a registry: add --config=clone.json.
//
// Exit code: 0 placed, 1 not placed, 3 perhaps placed (look before you call again).
import { calls, isException } from "outdial";

const [to_number = ""] = Deno.args;
const env = (name: string): string => Deno.env.get(name) ?? "";

try {
  const call = await calls.create(
    {
      from_number: env("FROM_NUMBER"),
      to_number,
      flow_url: `${env("APP_URL")}/flow`,
      status_callback_url: `${env("APP_URL")}/status`,
    },
    { apiKey: env("OUTDIAL_API_KEY"), baseUrl: env("OUTDIAL_BASE_URL") },
  );
  console.log(call.id);
} catch (error) {
  if (!isException(error)) throw error;
  console.error(error.message);
  Deno.exitCode = error.placed === "no" ? 1 : 3;
}
