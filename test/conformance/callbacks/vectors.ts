import { randomOf } from "../../random.ts";

/** The second at which every vector is signed, and verified. */
export const now = 1_780_000_000;

/** What `signUrl` makes, computed by another implementation: `createHmac` of Node's crypto. */
export const signed: readonly {
  readonly secret: string;
  readonly url: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly expiresIn: number;
  readonly signed: string;
}[] = [
  {
    secret: "a secret that was made at random",
    url: "https://app.test/status",
    context: {},
    expiresIn: 86_400,
    signed:
      "https://app.test/status?outdial=1780086400.e30.E-EJvEg3IfMMdM-InlFrKf3pw7Yp0X3o_IiyPYADpng",
  },
  {
    secret: "0123456789abcdef",
    url: "https://app.test",
    context: { order: 17 },
    expiresIn: 1,
    signed:
      "https://app.test/?outdial=1780000001.eyJvcmRlciI6MTd9.XDqWBf4FWXhk7GDC-_cc11ZKqO5ZvDQHwwefaQDBUxE",
  },
  {
    secret: "0123456789abcdef",
    url: "https://app.test:8443/status?tenant=7&tenant=8",
    context: { order: "ä€😀", nested: { list: [1, null, true] } },
    expiresIn: 3600,
    signed:
      "https://app.test:8443/status?tenant=7&tenant=8&outdial=1780003600.eyJvcmRlciI6IsOk4oKs8J-YgCIsIm5lc3RlZCI6eyJsaXN0IjpbMSxudWxsLHRydWVdfX0.vR1OO1NxT7bZIVl6W33U_r0O7EyDwAG5qFWW20All4w",
  },
  {
    secret: "sécrèt sécrèt 😀😀",
    url: "wss://app.test/media/é b?q=%2F%26",
    context: { a: '\u0000\n"' },
    expiresIn: 2_000_000_000,
    signed:
      "wss://app.test/media/%C3%A9%20b?q=%2F%26&outdial=3780000000.eyJhIjoiXHUwMDAwXG5cIiJ9.xF5Z1GoEVcQvEsevC5t8OmfgLcguCG00T5wKVXeL_9s",
  },
];

/** A thousand things to sign, the same on every runtime. */
export const thousand = () => {
  const next = randomOf(17);
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = (from: readonly string[], length: number) =>
    Array.from({ length }, () => from[below(from.length)]).join("");
  const inUrl = [..."abcXYZ019-_.~!$&()*+,;=:@"];
  const inText = [...'abcXYZ019 /?#%&+"\\\u0000éß€中😀'];
  return Array.from({ length: 1000 }, () => {
    const secret = pick(inText, 16 + below(48));
    const path = `/p${pick(inUrl, below(20))}`;
    const query = below(2) ? `?q${pick(inUrl, below(40))}` : "";
    const context: Readonly<Record<string, unknown>> = below(4)
      ? { [pick(inText, 1 + below(9))]: pick(inText, below(60)), n: below(2 ** 31) }
      : {};
    return {
      secret,
      url: `https://app.test${path}${query}`,
      context,
      expiresIn: 1 + below(2 ** 31),
    };
  });
};

/** SHA-256 of the thousand signed URLs, one a line, computed by that other implementation. */
export const thousandDigest = "bcd5120df94b8dc359abb0a2467a317973a3df8731af2fa398c592c5b61e35a3";

/** What the reference package of Standard Webhooks (`standardwebhooks` 1.1.1) signs. */
export const webhooks: readonly {
  readonly secret: string;
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
  readonly signature: string;
}[] = [
  {
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
  {
    secret: "whsec_AAcOFRwjKjE4P0ZNVFtiaXB3foWMk5qhqK+2vcTL0tk=",
    id: "evt_01JZ",
    timestamp: now,
    body: '{"type":"call.ringing","call_id":"cs_1","data":{"from":"+12025550199"}}',
    signature: "v1,AxI0FTgyXLwKSbENArW+b9kHwVfvPG/+rj5qzUZCkpI=",
  },
  {
    secret: "MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ubw==",
    id: "evt_3",
    timestamp: now,
    body: '{"type":"call.ümlaut","call_id":"€","data":{"emoji":"😀"}}\n',
    signature: "v1,hK6ULqkWE4BG0XFvQv30TdKbE3LUdNmAOL/8Diuadg8=",
  },
];

/** What Node's `createHmac` makes of `{timestamp}.{body}`. */
export const timestamped = {
  secret: "the secret that a service shows: ü",
  body: '{"type":"call.ringing","call_id":"cs_1","data":{"from":"+12025550199","to":"€"}}',
  signed: [
    {
      timestamp: "1780000000",
      hex: "192be4eac53b48befa0aa110f36b3a0da12d265c55c400840ae7f5d982372366",
      base64: "GSvk6sU7SL76CqEQ82s6DaEtJlxVxACECuf12YI3I2Y=",
    },
    {
      timestamp: "1780000000123",
      hex: "4d7ff6a690dace1a517098a18223965419d127f75f7543917b3c28dbb69c6fdf",
      base64: "TX/2ppDazhpRcJihgiOWVBnRJ/dfdUORezwo27acb98=",
    },
  ],
} as const;
