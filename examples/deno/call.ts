// A Deno script that places a call. Read OUTDIAL_API_KEY from a secrets manager into the environment, then:
//
//   export OUTDIAL_BASE_URL=https://voice.example.com
//   export FROM_NUMBER=+12025550199 APP_URL=https://app.example.com
//   deno run --allow-net=voice.example.com \
//     --allow-env=OUTDIAL_API_KEY,OUTDIAL_BASE_URL,FROM_NUMBER,APP_URL call.ts +12025550100
//
//
// Exit code: 0 if the call was placed, 1 if not, 3 if it may have been placed (do not repeat it).
import { calls, isException } from "outdial";

const [to_number = ""] = Deno.args;

/** Ends the script without a permission: Deno would ask for it and wait for an answer. */
const requirePermission = (flag: string, permission: Deno.PermissionDescriptor): void => {
  if (Deno.permissions.querySync(permission).state === "granted") return;
  console.error(`Missing permission: ${flag} (no call was placed)`);
  Deno.exit(1);
};

const env = (variable: string): string => {
  requirePermission(`--allow-env=${variable}`, { name: "env", variable });
  return Deno.env.get(variable) ?? "";
};

const baseUrl = env("OUTDIAL_BASE_URL");
const host = URL.parse(baseUrl)?.host;
if (host) requirePermission(`--allow-net=${host}`, { name: "net", host });

try {
  const call = await calls.create(
    {
      from_number: env("FROM_NUMBER"),
      to_number,
      flow_url: `${env("APP_URL")}/flow`,
      status_callback_url: `${env("APP_URL")}/status`,
    },
    { apiKey: env("OUTDIAL_API_KEY"), baseUrl },
  );
  console.log(call.id);
} catch (error) {
  if (!isException(error)) throw error;
  console.error(error.message);
  Deno.exitCode = error.placed === "no" ? 1 : 3;
}
