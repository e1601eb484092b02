import { filesOf, type Place, ports } from "./config.ts";

/** The fields of a section of a file. */
export type Fields = Readonly<Record<string, string | number>>;

export const section = (name: string, fields: Fields): string =>
  [`[${name}]`, ...Object.entries(fields).map(([field, value]) => `${field}=${value}`), ""].join(
    "\n",
  );

/** A party that is called, or that calls. */
export const endpoint = (name: string, address: string, fields: Fields): string =>
  section(name, {
    type: "endpoint",
    transport: "udp",
    context: "incoming",
    disallow: "all",
    allow: "ulaw,alaw",
    dtmf_mode: "rfc4733",
    direct_media: "no",
    rtp_symmetric: "no",
    media_address: address,
    // Else each answered call is invited again, with an identity that has no number.
    send_connected_line: "no",
    ...fields,
  });

/** SIP over UDP. */
export const udpTransport = (address: string): string =>
  section("udp", { type: "transport", protocol: "udp", bind: `${address}:${ports.sip}` });

/** Without a refresh a session ends after 90 s, the least that Asterisk and RFC 4028 allow: nobody is left in silence. */
export const sessionTimers = { timers: "always", timers_min_se: 90, timers_sess_expires: 90 };

/** The files of an exchange that calls telephones with session timers. */
export const timedFiles = ({ address }: Place): Readonly<Record<string, string>> => ({
  "pjsip.conf":
    udpTransport(address) + endpoint("trunk", address, { send_pai: "yes", ...sessionTimers }),
});

const trunkModules = [
  "app_dial",
  "res_srtp",
  "res_pjsip_authenticator_digest",
  "res_pjsip_outbound_authenticator_digest",
  "res_pjsip_outbound_registration",
  "res_pjsip_registrar",
  "res_pjsip_endpoint_identifier_user",
];

/** What a trunk and its exchange load: all that an exchange loads, and what accounts and TLS need. */
export const withTrunkModules = (place: Place): string =>
  [filesOf(place)["modules.conf"] ?? "", ...trunkModules.map((name) => `load=${name}.so`), ""].join(
    "\n",
  );
