import { asteriskFiles } from "../../../src/exchange/asterisk-files.ts";

/** Where an Asterisk is, and what is its own. */
export interface Place {
  /** The folder of the system that has Asterisk's files. */
  readonly root: string;
  /** The folder of this Asterisk. */
  readonly folder: string;
  /** An address of 127/8 that nobody else has. */
  readonly address: string;
  readonly password: string;
}

/** The port of its HTTP server, and of SIP: the address is its own. */
export const ports = { http: 8088, sip: 5060 } as const;

/** A file with the folders of the system that has Asterisk's files: Asterisk itself looks in those of this machine. */
export const withSystem = (text: string, root: string): string =>
  text.replace(
    "[directories]",
    [
      "[directories]",
      `astmoddir = ${root}/usr/lib/x86_64-linux-gnu/asterisk/modules`,
      `astvarlibdir = ${root}/usr/share/asterisk`,
      `astdatadir = ${root}/usr/share/asterisk`,
    ].join("\n"),
  );

/** A file with the address at which this Asterisk alone listens, and where it wants its audio. */
export const withAddress = (text: string, address: string): string =>
  text
    .replace("0.0.0.0", address)
    .replace("type = endpoint", `type = endpoint\nmedia_address = ${address}`);

/** The files of an Asterisk that calls any telephone on this machine by the endpoint `trunk`: those of an operator's, otherwise. */
export const filesOf = ({ root, folder, address, password }: Place): Record<string, string> => {
  const files = asteriskFiles({
    folder,
    http: { host: address, port: ports.http },
    user: "outdial",
    password,
    trunk: { host: "127.0.0.1", transport: "udp", registers: false },
  });
  const { "asterisk.conf": own = "", "pjsip.conf": pjsip = "" } = files;
  return {
    ...files,
    "asterisk.conf": withSystem(own, root).replace("verbose = 1", "verbose = 3"),
    "logger.conf":
      files["logger.conf"]?.replace("warning,error", "notice,warning,error,verbose(3)") ?? "",
    // Telephones have addresses of their own, none takes OPTIONS, and lost calls are to be seen before a timer ends them.
    "pjsip.conf": withAddress(pjsip, address)
      .replace("qualify_frequency = 30", "qualify_frequency = 0")
      .replace("timers = always", "timers = yes")
      .replace("rtp_symmetric = yes", "rtp_symmetric = no"),
  };
};
