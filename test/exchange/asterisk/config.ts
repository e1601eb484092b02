import { channelLogLine } from "../../../src/exchange/channel-log.ts";

/** The log of channels, in the folder `cel-custom` of Asterisk's logs. */
export const channelLogName = "outdial.csv";

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

/** What an exchange needs, and no more. */
const modules = [
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
  "func_timeout",
  "func_channel",
  "pbx_config",
  "app_stasis",
  "app_senddtmf",
  "res_rtp_asterisk",
  "res_pjsip",
  "res_pjsip_session",
  "res_pjsip_sdp_rtp",
  "res_pjsip_caller_id",
  "res_pjsip_endpoint_identifier_ip",
  "res_pjsip_rfc3326",
  "res_pjsip_nat",
  "res_pjsip_pubsub",
  "res_pjsip_acl",
  "res_pjsip_dlg_options",
  "chan_pjsip",
  "chan_websocket",
  "res_cdrel_custom",
  "cel_custom",
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
];

const section = (name: string, fields: Readonly<Record<string, string | number>>): string =>
  [`[${name}]`, ...Object.entries(fields).map(([field, value]) => `${field}=${value}`), ""].join(
    "\n",
  );

/** The port of its HTTP server, and of SIP: the address is its own. */
export const ports = { http: 8088, sip: 5060 } as const;

/** The files of an Asterisk that calls any telephone on this machine by the endpoint `trunk`. */
export const filesOf = ({ root, folder, address, password }: Place): Record<string, string> => ({
  "asterisk.conf":
    section("directories", {
      astcachedir: `${folder}/tmp`,
      astetcdir: `${folder}/etc`,
      astmoddir: `${root}/usr/lib/x86_64-linux-gnu/asterisk/modules`,
      astvarlibdir: `${root}/usr/share/asterisk`,
      astdbdir: `${folder}/db`,
      astkeydir: `${folder}/keys`,
      astdatadir: `${root}/usr/share/asterisk`,
      astagidir: `${folder}/agi`,
      astspooldir: `${folder}/spool`,
      astrundir: `${folder}/run`,
      astlogdir: `${folder}/log`,
    }) +
    section("options", {
      verbose: 3,
      nofork: "yes",
      nocolor: "yes",
      live_dangerously: "no",
      hideconnect: "yes",
      documentation_language: "en_US",
    }),
  "modules.conf": [
    "[modules]",
    "autoload=no",
    "require=res_pjproject.so",
    ...modules.map((name) => `load=${name}.so`),
    "",
  ].join("\n"),
  "logger.conf":
    section("general", { dateformat: "%F %T.%3q" }) +
    section("logfiles", { messages: "notice,warning,error,verbose(3)" }),
  "http.conf": section("general", {
    enabled: "yes",
    bindaddr: address,
    bindport: ports.http,
    enable_static: "no",
    enable_status: "no",
    sessionlimit: 2000,
    session_keep_alive: 15000,
  }),
  "ari.conf":
    section("general", { enabled: "yes", websocket_write_timeout: 1000 }) +
    section("outdial", {
      type: "user",
      read_only: "no",
      password,
      // The first rule that fits decides.
      deny: "0.0.0.0/0",
      permit: "127.0.0.0/8",
    }),
  "rtp.conf": section("general", {
    rtpstart: 20000,
    rtpend: 29999,
    strictrtp: "yes",
    icesupport: "no",
  }),
  "chan_websocket.conf": section("global", { control_message_format: "json" }),
  "pjsip.conf":
    section("global", { type: "global", user_agent: "outdial-exchange" }) +
    section("udp", { type: "transport", protocol: "udp", bind: `${address}:${ports.sip}` }) +
    section("trunk", {
      type: "endpoint",
      transport: "udp",
      context: "incoming",
      disallow: "all",
      allow: "ulaw,alaw",
      dtmf_mode: "rfc4733",
      direct_media: "no",
      rtp_symmetric: "no",
      media_address: address,
      send_pai: "yes",
      timers: "yes",
    }),
  "extensions.conf": "[incoming]\nexten => _X.,1,Hangup(21)\n",
  "manager.conf": section("general", { enabled: "no" }),
  "cdr.conf": section("general", { enable: "no" }),
  // By it a service knows after its death whether a telephone was called.
  "cel.conf": section("general", { enable: "yes", events: "CHAN_START" }),
  "cel_custom.conf": `[mappings]\n${channelLogName} => ${channelLogLine}\n`,
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
});
