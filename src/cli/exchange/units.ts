import { posix } from "node:path";
import { secretsFile } from "../../exchange/settings.ts";
import { UsageError } from "../command.ts";

/** How the processes of an exchange are started. */
export interface Starting {
  /** The absolute path of the exchange's folder. */
  readonly folder: string;
  /** Asterisk's program. */
  readonly asterisk: string;
  /** What starts this command: the runtime and its file. */
  readonly command: readonly string[];
  /** What npm installs of outdial in a container, such as `outdial@^0.1.0`. */
  readonly spec: string;
  /** The user whose files these are: a name, and its numbers for a container. */
  readonly user: string;
  readonly uid: number;
  readonly gid: number;
  /** How long calls are waited for at the end, in milliseconds. */
  readonly closeTimeout: number;
}

/** A word of a systemd unit. `%` begins what systemd fills in, and `$` a variable. */
const word = (text: string): string => {
  const escaped = text.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return `"${escaped.replace(/["\\]/g, "\\$&")}"`;
};

/** A path that is a value by itself: systemd takes no quotes there. */
const path = (text: string): string => text.replaceAll("%", "%%");

/** Longer than calls are waited for, in seconds. */
const stopSeconds = ({ closeTimeout }: Starting): number => Math.ceil(closeTimeout / 1_000) + 30;

const unit = (sections: Readonly<Record<string, readonly string[]>>): string =>
  Object.entries(sections)
    .map(([name, lines]) => `[${name}]\n${lines.join("\n")}\n`)
    .join("\n");

const hardened = ({ user }: Starting, writable: string): readonly string[] => [
  `User=${user}`,
  "UMask=0077",
  "NoNewPrivileges=yes",
  "ProtectSystem=strict",
  "PrivateTmp=yes",
  // Before its first start nothing of it may be missing.
  `ReadWritePaths=${path(writable)}`,
];

const asteriskConf = (folder: string): string => posix.join(folder, "asterisk/etc/asterisk.conf");

/** The units of systemd. */
const unitsOf = (starting: Starting): Readonly<Record<string, string>> => {
  const { folder, asterisk, command } = starting;
  const starts = [...command, "exchange", "--folder", folder].map(word).join(" ");
  const asteriskStarts = [asterisk, "-C", asteriskConf(folder), "-f"].map(word).join(" ");
  return {
    "outdial-asterisk.service": unit({
      Unit: [
        "Description=Asterisk of outdial exchange",
        "Wants=network-online.target",
        "After=network-online.target",
        // That of the distribution, which has the same ports.
        "Conflicts=asterisk.service",
      ],
      Service: [
        ...hardened(starting, posix.join(folder, "asterisk")),
        `ExecStart=${asteriskStarts}`,
        "Restart=always",
        "RestartSec=1",
      ],
      Install: ["WantedBy=multi-user.target"],
    }),
    "outdial-exchange.service": unit({
      Unit: [
        "Description=outdial exchange",
        "Wants=outdial-asterisk.service",
        "After=outdial-asterisk.service",
      ],
      Service: [
        ...hardened(starting, folder),
        `WorkingDirectory=${path(folder)}`,
        `ExecStart=${starts}`,
        `TimeoutStopSec=${stopSeconds(starting)}`,
        "Restart=always",
        "RestartSec=1",
        // A wrong setting stays wrong.
        "RestartPreventExitStatus=2",
      ],
      Install: ["WantedBy=multi-user.target"],
    }),
  };
};

/** A text of YAML, which JSON's are too; `$` begins a variable of Compose. */
const yaml = (value: string | readonly string[]): string =>
  JSON.stringify(value).replaceAll("$", "$$$$");

/** The same for Docker Compose. Both are on the host's network: RTP has ten thousand ports. */
const composeOf = (starting: Starting): string => {
  const { folder, uid, gid, spec } = starting;
  const shared = [
    "    network_mode: host",
    `    user: ${yaml(`${uid}:${gid}`)}`,
    "    restart: unless-stopped",
  ];
  const mounts = (sources: readonly string[]) => [
    "    volumes:",
    ...sources.flatMap((source) => [
      "      - type: bind",
      `        source: ${yaml(source)}`,
      `        target: ${yaml(source)}`,
    ]),
  ];
  return `${[
    "services:",
    "  asterisk:",
    "    build:",
    "      dockerfile_inline: |",
    "        FROM debian:sid-slim",
    "        RUN apt-get update && apt-get install -y --no-install-recommends asterisk asterisk-modules \\",
    "          && rm -rf /var/lib/apt/lists/*",
    ...shared,
    `    command: ${yaml(["asterisk", "-C", asteriskConf(folder), "-f"])}`,
    ...mounts([posix.join(folder, "asterisk")]),
    "  exchange:",
    "    image: node:24-slim",
    ...shared,
    "    depends_on: [asterisk]",
    `    working_dir: ${yaml(folder)}`,
    "    environment:",
    '      HOME: "/tmp"',
    `    command: ${yaml(["npx", "--yes", spec, "exchange", "--folder", folder])}`,
    `    stop_grace_period: ${stopSeconds(starting)}s`,
    ...mounts([folder, ...(spec.startsWith("file:") ? [spec.slice("file:".length)] : [])]),
  ].join("\n")}\n`;
};

/**
 * What starts an exchange and its Asterisk, by the names of its files.
 *
 * @throws {UsageError} when a path can't be in a unit
 */
export const startingFiles = (starting: Starting): Readonly<Record<string, string>> => {
  for (const each of [starting.folder, starting.asterisk, ...starting.command]) {
    if (/[\p{Cc}\s"'\\]/u.test(each)) {
      throw new UsageError("the folder and the programs must have paths without spaces and quotes");
    }
  }
  return {
    ...unitsOf(starting),
    "compose.yaml": composeOf(starting),
    ".gitignore": [secretsFile, "asterisk/", "recordings/", "*.db*", ""].join("\n"),
  };
};
