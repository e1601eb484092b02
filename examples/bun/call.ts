// A Bun script that places a call. Read OUTDIAL_API_KEY from a secrets manager into the environment, then:
//
//   bun add outdial
//   export OUTDIAL_BASE_URL=https://voice.example.com
//   export FROM_NUMBER=+12025550199 APP_URL=https://app.example.com
//   bun call.ts +12025550100
//
// Exit code: 0 if the call was placed, 1 if not, 3 if it may have been placed (do not repeat it).
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
