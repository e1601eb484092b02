import { fail } from "../lib/check.ts";
import { channelLogLine } from "./channel-log.ts";
import type { Trunk } from "./settings.ts";

/** What an exchange needs of Asterisk, and no more. */
export const asteriskModules = [
  "res_sorcery_config",
  "res_sorcery_memory",
  "res_sorcery_astdb",
  "res_timing_timerfd",
  "res_http_websocket",
  "res_websocket_client",
  "bridge_simple",
  "bridge_softmix",
  "bridge_holding",
  "bridge_native_rtp",
  "codec_alaw",
  "codec_ulaw",
  "codec_resample",
  "format_pcm",
  "format_wav",
  "func_callerid",
  "func_channel",
  "func_timeout",
  "pbx_config",
  "app_stasis",
  "app_senddtmf",
  "res_rtp_asterisk",
  "res_srtp",
  "res_cdrel_custom",
  "cel_custom",
  "res_pjsip",
  "res_pjsip_session",
  "res_pjsip_sdp_rtp",
  "res_pjsip_caller_id",
  "res_pjsip_endpoint_identifier_ip",
  "res_pjsip_outbound_authenticator_digest",
  "res_pjsip_outbound_registration",
  "res_pjsip_rfc3326",
  "res_pjsip_nat",
  "res_pjsip_pubsub",
  "res_pjsip_acl",
  "res_pjsip_dlg_options",
  "chan_pjsip",
  "chan_websocket",
  "res_stasis",
  "res_stasis_answer",
  "res_stasis_playback",
  "res_stasis_recording",
  "res_stasis_snoop",
  "res_ari",
  "res_ari_model",
  "res_ari_applications",
  "res_ari_asterisk",
  "res_ari_bridges",
  "res_ari_channels",
  "res_ari_endpoints",
  "res_ari_events",
] as const;

/** The folders in Asterisk's own that it writes, or reads. */
export const asteriskFolders = ["etc", "run", "log", "spool", "db", "keys", "agi", "tmp"] as const;

/** The channel log that Asterisk keeps, from its folder. */
export const channelLogFile = "log/cel-custom/outdial.csv";

/** The Asterisk of an exchange. */
export interface AsteriskOptions {
  /** The absolute path of its folder. */
  readonly folder: string;
  /** Where its HTTP server listens: loopback, or the private link to the exchange. */
  readonly http: { readonly host: string; readonly port: number };
  readonly user: string;
  readonly password: string;
  readonly trunk: Trunk;
  /** The password at the trunk. */
  readonly trunkPassword?: string | undefined;
  /** The address at which the trunk reaches this machine, where that is behind a router. */
  readonly externalAddress?: string | undefined;
}

type Fields = Readonly<Record<string, string | number | undefined>>;

/** @throws {BadParametersException} for what would end a line in Asterisk's files */
const confValue = (name: string, value: string | number): string => {
  const text = String(value);
  if (/\p{Cc}/u.test(text) || text.trim() !== text) {
    fail(name, "must be without control characters, and without a space at either end");
  }
  // A semicolon begins a comment; a backslash is special before it alone.
  return text.replaceAll(";", "\\;");
};

/** With a space after it: `=>` is another operator. */
const section = (name: string, fields: Fields): string =>
  [
    `[${name}]`,
    ...Object.entries(fields).flatMap(([field, value]) =>
      value === undefined || value === "" ? [] : [`${field} = ${confValue(field, value)}`],
    ),
    "",
  ].join("\n");

const usualPorts = { udp: 5060, tcp: 5060, tls: 5061 } as const;

/** A host in a URI. */
const inUri = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** The trunk, to which all calls go. It takes none: the context of what comes in has nothing. */
const pjsip = ({ trunk, trunkPassword, externalAddress }: AsteriskOptions): string => {
  const { host, transport, user, registers, port = usualPorts[transport] } = trunk;
  const suffix = transport === "udp" ? "" : `;transport=${transport}`;
  const server = `sip:${inUri(host)}:${port}`;
  const isTls = transport === "tls";
  const hasAuth = user !== undefined && trunkPassword !== undefined;
  return [
    section("global", {
      type: "global",
      user_agent: "outdial-exchange",
      // The trunk is asked at the start, not half a minute later.
      max_initial_qualify_time: 1,
    }),
    section("transport", {
      type: "transport",
      protocol: transport,
      bind: `0.0.0.0:${usualPorts[transport]}`,
      external_media_address: externalAddress,
      external_signaling_address: externalAddress,
      ...(isTls && {
        method: "tlsv1_2",
        verify_server: "yes",
        ca_list_file: "/etc/ssl/certs/ca-certificates.crt",
      }),
    }),
    section("trunk", {
      type: "endpoint",
      transport: "transport",
      context: "closed",
      aors: "trunk",
      outbound_auth: hasAuth ? "trunk" : undefined,
      from_domain: user === undefined ? undefined : host,
      disallow: "all",
      allow: "ulaw,alaw",
      dtmf_mode: "rfc4733",
      direct_media: "no",
      rtp_symmetric: "yes",
      force_rport: "yes",
      rewrite_contact: "yes",
      media_encryption: isTls ? "sdes" : undefined,
      send_pai: "yes",
      // Else each answered call is invited again, with a number that is none.
      send_connected_line: "no",
      // The net beneath: a telephone whose Asterisk is gone hangs up by itself.
      timers: "always",
      timers_min_se: 90,
      timers_sess_expires: 90,
    }),
    section("trunk", { type: "aor", contact: `${server}${suffix}`, qualify_frequency: 30 }),
    ...(hasAuth
      ? [
          section("trunk", {
            type: "auth",
            auth_type: "userpass",
            username: user,
            password: trunkPassword,
          }),
        ]
      : []),
    ...(registers
      ? [
          section("trunk", {
            type: "registration",
            transport: "transport",
            outbound_auth: hasAuth ? "trunk" : undefined,
            server_uri: `${server}${suffix}`,
            client_uri: `sip:${user ?? "outdial"}@${inUri(host)}${suffix}`,
            max_random_initial_delay: 0,
            retry_interval: 30,
            forbidden_retry_interval: 300,
            max_retries: 100_000,
            expiration: 300,
          }),
        ]
      : []),
  ].join("");
};

/**
 * The files of an Asterisk that calls by one trunk, by their names.
 *
 * @throws {BadParametersException} for a value that Asterisk's files can't hold
 */
export const asteriskFiles = (options: AsteriskOptions): Readonly<Record<string, string>> => {
  const { folder, http, user, password } = options;
  return {
    "asterisk.conf":
      section("directories", {
        astetcdir: `${folder}/etc`,
        astdbdir: `${folder}/db`,
        astkeydir: `${folder}/keys`,
        astagidir: `${folder}/agi`,
        astspooldir: `${folder}/spool`,
        astrundir: `${folder}/run`,
        astlogdir: `${folder}/log`,
        astcachedir: `${folder}/tmp`,
      }) +
      section("options", {
        verbose: 1,
        nofork: "yes",
        nocolor: "yes",
        live_dangerously: "no",
        hideconnect: "yes",
        documentation_language: "en_US",
      }),
    "modules.conf": [
      "[modules]",
      "autoload = no",
      "require = res_pjproject.so",
      ...asteriskModules.map((name) => `load = ${name}.so`),
      "",
    ].join("\n"),
    "logger.conf":
      section("general", { dateformat: "%F %T.%3q" }) +
      section("logfiles", { messages: "warning,error" }),
    "http.conf": section("general", {
      enabled: "yes",
      bindaddr: http.host,
      bindport: http.port,
      enable_static: "no",
      enable_status: "no",
      sessionlimit: 2_000,
      session_keep_alive: 15_000,
    }),
    "ari.conf":
      section("general", { enabled: "yes", websocket_write_timeout: 1_000 }) +
      section(user, { type: "user", read_only: "no", password }),
    "rtp.conf": section("general", {
      rtpstart: 20_000,
      rtpend: 29_999,
      strictrtp: "yes",
      icesupport: "no",
    }),
    "chan_websocket.conf": section("global", { control_message_format: "json" }),
    "pjsip.conf": pjsip(options),
    "extensions.conf": "[closed]\n",
    "manager.conf": section("general", { enabled: "no" }),
    "cdr.conf": section("general", { enable: "no" }),
    "cel.conf": section("general", { enable: "yes", events: "CHAN_START" }),
    // Which calls have begun, so that one whose request was cut off is known.
    "cel_custom.conf": `[mappings]\n${channelLogFile.split("/").at(-1)} => ${channelLogLine}\n`,
    // Asterisk warns of each of these that is not there.
    ...Object.fromEntries(
      [
        "acl",
        "ccss",
        "codecs",
        "features",
        "indications",
        "musiconhold",
        "pjproject",
        "stasis",
        "udptl",
        "websocket_client",
      ].map((name) => [`${name}.conf`, ""]),
    ),
  };
};
