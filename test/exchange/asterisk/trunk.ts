import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Certificates, identityIn, makeCertificates } from "../../faults/certificates.ts";
import type { Telephone } from "../telephone/telephone.ts";
import { type Asterisk, freeAddress, type Installed, startAsterisk } from "./asterisk.ts";
import { type Place, ports as usualPorts } from "./config.ts";
import {
  endpoint,
  type Fields,
  section,
  sessionTimers,
  udpTransport,
  withTrunkModules,
} from "./pjsip.ts";

const ports = { sip: usualPorts.sip, tls: 5061 } as const;

/** How an exchange reaches a trunk. */
interface Access {
  readonly account: "plain" | "secure" | "unregistered" | "wrong-password";
  /** The authority that is trusted; UDP without one. */
  readonly authority?: "authority" | "stranger";
  readonly media_encryption?: "sdes";
}

/** Each is an endpoint of the exchange, such as `PJSIP/+12025550100@secure`. */
const accesses = {
  /** UDP and digest. The number is in From. */
  plain: { account: "plain" },
  /** TLS, SRTP, digest and registration. From has the account, and P-Asserted-Identity the number. */
  secure: { account: "secure", authority: "authority", media_encryption: "sdes" },
  "wrong-password": { account: "wrong-password" },
  /** The trunk wants the account to be registered. */
  unregistered: { account: "unregistered" },
  "foreign-authority": { account: "secure", authority: "stranger", media_encryption: "sdes" },
  "without-srtp": { account: "secure", authority: "authority" },
} as const satisfies Readonly<Record<string, Access>>;

export type TrunkName = keyof typeof accesses;

/** A second Asterisk, by which an exchange calls telephones. */
export interface Trunk {
  /** Its process. */
  readonly process: () => Asterisk["process"];
  /** Kills it. */
  readonly kill: () => Promise<void>;
  /** Starts it again: nobody is registered then. */
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Whether the exchange is registered. */
  readonly isRegistered: () => Promise<boolean>;
  /** All calls go to this telephone from now on. */
  readonly connect: (telephone: Pick<Telephone, "address" | "port">) => Promise<void>;
  /** Starts an exchange that has the trunk. */
  readonly startExchange: () => Promise<Asterisk>;
}

const account = (name: string, username: string, password: string): string =>
  section(name, { type: "auth", auth_type: "userpass", username, password });

/** Whoever has to be registered, and isn't, is refused as carriers refuse: 403. */
const dialplan = `[registered]
exten => _+X.,1,GotoIf($["\${PJSIP_DIAL_CONTACTS(\${CHANNEL(endpoint)})}"=""]?unregistered)
 same => n,Goto(telephones,\${EXTEN},1)
 same => n(unregistered),Hangup(21)
[telephones]
exten => _+X.,1,Dial(PJSIP/telephones/sip:\${EXTEN}@\${TELEPHONE})
 same => n,Hangup(\${HANGUPCAUSE})
`;

/** The accounts of a trunk, by their names. */
const accounts: Readonly<Record<string, Fields>> = {
  plain: { context: "telephones" },
  unregistered: { context: "registered" },
  secure: { context: "registered", media_encryption: "sdes" },
};

/** The files of a trunk. */
const trunkFiles =
  (certificates: Certificates) =>
  (place: Place): Readonly<Record<string, string>> => {
    const { folder, address, password } = place;
    const { key, cert } = identityIn(certificates.folder, "good");
    return {
      "trunk.key": key,
      "trunk.pem": cert,
      "modules.conf": withTrunkModules(place),
      "extensions.conf": dialplan,
      "pjsip.conf": [
        section("global", {
          type: "global",
          user_agent: "trunk",
          endpoint_identifier_order: "auth_username,username",
        }),
        udpTransport(address),
        section("tls", {
          type: "transport",
          protocol: "tls",
          bind: `${address}:${ports.tls}`,
          cert_file: `${folder}/etc/trunk.pem`,
          priv_key_file: `${folder}/etc/trunk.key`,
          method: "tlsv1_2",
        }),
        endpoint("telephones", address, {}),
        ...Object.entries(accounts).flatMap(([name, fields]) => [
          endpoint(name, address, {
            auth: name,
            aors: name,
            identify_by: "auth_username,username",
            trust_id_inbound: "yes",
            ...fields,
          }),
          section(name, { type: "aor", max_contacts: 1, remove_existing: "yes" }),
          account(name, name, password),
        ]),
      ].join(""),
    };
  };

/** The files of an exchange that has a trunk. */
const exchangeFiles =
  (trunk: { readonly address: string; readonly password: string }, certificates: Certificates) =>
  (place: Place): Readonly<Record<string, string>> => {
    const { folder, address } = place;
    const tls = (name: string, port: number) =>
      section(name, {
        type: "transport",
        protocol: "tls",
        bind: `${address}:${port}`,
        ca_list_file: `${folder}/etc/${name}.pem`,
        verify_server: "yes",
        method: "tlsv1_2",
      });
    const byUdp = `sip:${trunk.address}:${ports.sip}`;
    const byTls = `sip:${trunk.address}:${ports.tls}\\;transport=tls`;
    const trunkOf = ([name, access]: readonly [string, Access]) => {
      const { authority, account: outbound_auth, media_encryption = "no" } = access;
      const fields = authority ? { transport: authority, from_user: outbound_auth } : {};
      return [
        endpoint(name, address, {
          aors: name,
          outbound_auth,
          media_encryption,
          send_pai: "yes",
          ...sessionTimers,
          ...fields,
        }),
        section(name, { type: "aor", contact: authority ? byTls : byUdp }),
      ];
    };
    return {
      ...Object.fromEntries(
        ["authority.pem", "stranger.pem"].map((name) => [
          name,
          readFileSync(join(certificates.folder, name), "utf8"),
        ]),
      ),
      "modules.conf": withTrunkModules(place),
      "pjsip.conf": [
        section("global", { type: "global", user_agent: "outdial-exchange" }),
        udpTransport(address),
        tls("authority", ports.tls),
        tls("stranger", ports.tls + 1),
        ...Object.keys(accounts).map((name) => account(name, name, trunk.password)),
        account("wrong-password", "plain", "another"),
        section("registration", {
          type: "registration",
          transport: "authority",
          outbound_auth: "secure",
          server_uri: byTls,
          client_uri: `sip:secure@${trunk.address}`,
          contact_user: "secure",
          retry_interval: 1,
          max_retries: 10_000,
        }),
        ...Object.entries(accesses).flatMap(trunkOf),
      ].join(""),
    };
  };

/** Starts a second Asterisk as a trunk. */
export const startTrunk = async (installed: Installed): Promise<Trunk> => {
  const address = await freeAddress();
  const certificates = makeCertificates(`IP:${address}`);
  const password = Math.random().toString(36).slice(2);
  const start = () => startAsterisk(installed, { address, password }, trunkFiles(certificates));
  let asterisk = await start();
  const request = async (method: string, path: string): Promise<Response> => {
    const { url, user } = asterisk;
    const credentials = Buffer.from(`${user}:${password}`).toString("base64");
    const headers = { Authorization: `Basic ${credentials}` };
    return fetch(`${url}/ari${path}`, { method, headers });
  };
  let telephone = "";
  const setTelephone = async () => {
    const query = new URLSearchParams({ variable: "TELEPHONE", value: telephone });
    await request("POST", `/asterisk/variable?${query}`);
  };
  return {
    process: () => asterisk.process,
    kill: async () => {
      asterisk.process.kill("SIGKILL");
      await asterisk.stop();
    },
    restart: async () => {
      asterisk = await start();
      await setTelephone();
    },
    stop: async () => {
      await asterisk.stop();
      rmSync(certificates.folder, { recursive: true });
    },
    isRegistered: async () => {
      const response = await request("GET", "/endpoints/PJSIP/secure");
      const { state } = await response.json();
      return state === "online";
    },
    connect: async ({ address: host, port }) => {
      telephone = `${host}:${port}`;
      await setTelephone();
    },
    startExchange: () =>
      startAsterisk(installed, undefined, exchangeFiles({ address, password }, certificates)),
  };
};
