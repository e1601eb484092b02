// The rule of imports in src, which CONTRIBUTING states; dependency-cruiser holds it in `npm run lint`. Types count.

/** The layers, the lowest first, as patterns of their paths: a file imports from its own layer and from lower ones. */
const layers = [
  ["errors.ts", "errors\\.ts$"],
  ["lib", "lib/"],
  ["http", "http/"],
  ["callbacks", "callbacks/"],
  ["calls", "(calls/|client\\.ts$)"],
  ["flows", "flows/"],
  ["client", "(index|fetch|exports)\\.ts$"],
  [
    "agents, campaigns, carriers",
    "(agents/|campaigns/|carriers/voices\\.ts$|carriers/\\w+/(?!server/|carrier\\.ts$))",
  ],
  ["performer", "performer/"],
  ["server", "server/"],
  ["carriers' servers", "carriers/"],
  ["simulated telephone", "emulator/(?!(index|emulator)\\.ts$|dashboard/)"],
  ["emulator", "emulator/"],
  ["exchange", "exchange/"],
  ["testing", "testing/"],
  ["cli", "cli/"],
];

/** What a carrier is: types that every layer may import, though they name what layers above have. */
const seam = "(options|service)\\.ts$";

/** The folders that others enter by these files alone. `campaigns` has more than its index for the command. */
const doors = {
  agents: "index",
  campaigns:
    "(index|disposition|do-not-call|engine|list/columns|open-campaign|options|progress|recordings)",
  testing: "(index|simulated-time)",
  "carriers/(?!xml/)\\w+": "(index|carrier)",
};

/** @param {readonly string[]} paths */
const inSrc = (...paths) => `^src/(${paths.join("|")})`;

const rule = (name, from, to) => ({ name, severity: "error", from, to });

const down = layers.map(([name, layer], index) => {
  const lower = layers.slice(0, index).map(([, path]) => path);
  return rule(
    `${name}: only what is below`,
    { path: inSrc(layer), pathNot: lower.length > 0 ? inSrc(...lower) : undefined },
    { path: "^src/", pathNot: inSrc(seam, layer, ...lower) },
  );
});

const closed = Object.entries(doors).map(([folder, door]) =>
  rule(
    `${folder}: from outside by its door`,
    { path: "^src/", pathNot: `^src/${folder}/` },
    { path: `^src/${folder}/`, pathNot: `^src/${folder}/${door}\\.ts$` },
  ),
);

const all = layers.map(([, layer]) => layer);

export default {
  forbidden: [
    rule("each file has a layer", { path: "^src/", pathNot: inSrc(seam, ...all) }, {}),
    ...down,
    ...closed,
    rule(
      "options.ts, service.ts: types alone from above lib",
      { path: inSrc(seam) },
      {
        path: "^src/",
        pathNot: inSrc(seam, "lib/", "errors\\.ts$"),
        dependencyTypesNot: ["type-only"],
      },
    ),
    rule(
      "agents, campaigns, carriers: not each other",
      { path: "^src/(agents|campaigns|carriers/\\w+)/" },
      { path: "^src/(agents|campaigns|carriers/\\w+)/", pathNot: "^src/($1|carriers/xml)/" },
    ),
    rule(
      "exchange: for cli alone, as no edge runs it",
      { path: "^src/", pathNot: "^src/(cli|exchange)/" },
      { path: "^src/exchange/" },
    ),
    rule(
      "node: in cli and exchange alone",
      { path: "^src/", pathNot: "^src/(cli|exchange)/" },
      { dependencyTypes: ["core"] },
    ),
  ],
  options: { tsPreCompilationDeps: true, doNotFollow: { path: "node_modules" } },
};
