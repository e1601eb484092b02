// A Bun script that places a call. Put the key into the environment from a secrets manager, not
// from a file that git knows, then:
//
//   bun add outdial
//   export OUTDIAL_BASE_URL=https://voice.example.com
//   export FROM_NUMBER=+12025550199 APP_URL=https://app.example.com
//   bun call.ts +12025550100
//
// Exit code: 0 placed, 1 not placed, 3 perhaps placed (look before you call again).
import { calls, isException } from "outdial";

const [, , to_number = ""] = Bun.argv;
const { OUTDIAL_API_KEY = "", OUTDIAL_BASE_URL = "", FROM_NUMBER = "", APP_URL = "" } = Bun.env;

try {
  const call = await calls.create(
    {
      from_number: FROM_NUMBER,
      to_number,
      flow_url: `${APP_URL}/flow`,
      status_callback_url: `${APP_URL}/status`,
    },
    { apiKey: OUTDIAL_API_KEY, baseUrl: OUTDIAL_BASE_URL },
  );
  console.log(call.id);
} catch (error) {
  if (!isException(error)) throw error;
  console.error(error.message);
  process.exitCode = error.placed === "no" ? 1 : 3;
}
