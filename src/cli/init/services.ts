import type { ProjectService } from "../../carriers/carrier.ts";

/** @throws {TypeError} if a template lacks a text that is to be replaced */
const replaced = (
  text: string,
  changes: readonly (readonly [from: string, to: string])[],
): string =>
  changes.reduce((done, [from, to]) => {
    if (!done.includes(from)) throw new TypeError(`a template lacks: ${from}`);
    return done.replace(from, () => to);
  }, text);

/** In `onEvent` where the application redirects a call: a machine is found while the flow runs. */
const redirecting = `  const redirectToMachine = async (event: Received["event"]) => {
    if (!event.known || event.type !== "call.machine_detected" || !event.data.beep) return;
    const { from: from_number = "", to: to_number = "", answered_by = "" } = event.data;
    const url = await machineUrl(\`\${publicUrl}/flow\`, { secret, answered_by });
    await redirect({ id: event.call_id, from_number, to_number }, url, { apiKey, ...options });
  };

`;

/** The application with a carrier. */
export const appWith = (app: string, service: ProjectService): string => {
  const { name, label, accountField, verifiedBy, verifierIs, redirects } = service;
  const verifier = verifierIs ? 'setting(env, "OUTDIAL_SIGNATURE_SECRET")' : "apiKey";
  const checked = (path: string) =>
    `service,\n    secret,\n    publicUrl: \`\${publicUrl}/${path}\``;
  return replaced(app, [
    [
      'from "outdial";\n',
      `from "outdial";\n${redirects ? 'import { redirect } from "outdial/calls";\n' : ""}`,
    ],
    [
      "gather, pause, say }",
      redirects ? "gather, machineUrl, pause, say }" : "gather, pause, say }",
    ],
    [
      'from "outdial/flows";\n',
      `from "outdial/flows";\nimport { ${name} } from "outdial/${name}";\n`,
    ],
    [
      `  const client = new Client(setting(env, "OUTDIAL_API_KEY"), {
    baseUrl: setting(env, "OUTDIAL_BASE_URL"),
    ...(fetch && { fetch }),
  });
`,
      `  const apiKey = setting(env, "OUTDIAL_API_KEY");
  const service = ${name}({
    ${accountField}: setting(env, "OUTDIAL_ACCOUNT"),
    ${verifiedBy}: ${verifier}, // verifies who sends a request
    machineDetection: "message", // waits for the end of a machine's greeting
  });
  const baseUrl = env.OUTDIAL_BASE_URL; // the emulator's; empty for ${label} itself
  const options = { service, ...(baseUrl && { baseUrl }), ...(fetch && { fetch }) };
  const client = new Client(apiKey, options);
`,
    ],
    [
      "  const status = callbackHandler({ secret, onEvent: ({ event }) => onEvent(event) });\n",
      `${redirects ? redirecting : ""}  const status = callbackHandler({
    ${checked("status")},
    onEvent: ${redirects ? "async " : ""}({ event }) => ${
      redirects
        ? "{\n      onEvent(event);\n      await redirectToMachine(event);\n    }"
        : "onEvent(event)"
    },
  });
`,
    ],
    ["flowHandler({\n    secret,", `flowHandler({\n    ${checked("flow")},`],
    [
      "    // A machine has answered, and the carrier detects machines. outdial's own interface detects none.\n",
      redirects
        ? "    // A machine has answered: redirectToMachine leads the call here after the beep.\n"
        : "    // A machine has answered, and its greeting is over.\n",
    ],
  ]);
};

/** The last test of a project whose carrier detects machines. */
const machineTest = `
test("a machine gets a message, and no question after it", async () => {
  const started = start();
  assert.match(await spokenTo("+12025550106", started), /Please call us back/);
  assert.deepEqual(started.replies, []);
});
`;

/** The tests with a carrier. */
export const testWith = (test: string, service: ProjectService): string => {
  const { name, accountText, verifierIs, reportsPersons } = service;
  const answered = '    "call.answered",\n';
  const verifier = verifierIs ? "    OUTDIAL_SIGNATURE_SECRET: emulator.webhookSecret,\n" : "";
  return (
    replaced(test, [
      ["/** Listens", `const account = ${accountText};\n\n/** Listens`],
      [
        'createEmulator({ clock: "instant", fetch: (request) => app(request), callee });',
        `createEmulator({
    service: { name: "${name}", account },
    clock: "instant",
    fetch: (request) => app(request),
    callee,
  });`,
      ],
      [
        "    OUTDIAL_API_KEY: emulator.apiKey,\n",
        `    OUTDIAL_ACCOUNT: account,\n    OUTDIAL_API_KEY: emulator.apiKey,\n${verifier}`,
      ],
      [answered, reportsPersons ? `${answered}    "call.machine_detected",\n` : answered],
    ]) + machineTest
  );
};

/** The settings with a carrier. */
export const settingsWith = (settings: string, service: ProjectService): string => {
  const { label, account, accountIs, keyIs, verifierIs } = service;
  const verifier = verifierIs
    ? `\n# ${verifierIs} The emulator prints it as "signs with".\nOUTDIAL_SIGNATURE_SECRET=\n`
    : "";
  return replaced(settings, [
    [
      `# The service and the key of your account there. The emulator prints both.
OUTDIAL_BASE_URL=http://127.0.0.1:4010
OUTDIAL_API_KEY=
`,
      `# The emulator. Leave it empty for ${label} itself.
OUTDIAL_BASE_URL=http://127.0.0.1:4010

# ${accountIs} The emulator of this project has this one.
OUTDIAL_ACCOUNT=${account}

# ${keyIs} The emulator prints one.
OUTDIAL_API_KEY=
${verifier}`,
    ],
  ]);
};

/** The manifest, whose emulator is a carrier. */
export const emulatorWith = (manifest: string, { name, account }: ProjectService): string =>
  replaced(manifest, [[' emulator"', ` emulator --service ${name} --account ${account}"`]]);
