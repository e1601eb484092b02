// The floor of the bench: the same call, placed by hand. Apart from clients.ts, which imports every peer.
const fields = ["from_number", "to_number", "flow_url", "status_callback_url", "record"];
const number = /^\+[1-9]\d{6,14}$/;

const isUrl = (value: unknown): boolean => {
  if (typeof value !== "string" || value.length > 2083 || /\s/.test(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  const local = hostname === "localhost" || hostname.startsWith("127.");
  return (protocol === "https:" || (protocol === "http:" && local)) && !username && !password;
};

interface FloorOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly timeout?: number;
  readonly signal?: AbortSignal | undefined;
  readonly send?: (url: string, init: RequestInit) => Promise<Response>;
}

/** The least that a careful call costs: bare `fetch`, the same checks, one timer, by hand. */
export const placeByHand = async (
  call: Readonly<Record<string, unknown>>,
  options: FloorOptions,
): Promise<{ readonly id: string }> => {
  const { apiKey, baseUrl, timeout = 10_000, signal, send = fetch } = options;
  if (!/^[!-~]+$/.test(apiKey)) throw new TypeError("apiKey");
  if (!isUrl(baseUrl)) throw new TypeError("baseUrl");
  for (const name in call) if (!fields.includes(name)) throw new TypeError(name);
  if (!number.test(String(call.from_number))) throw new TypeError("from_number");
  if (!number.test(String(call.to_number))) throw new TypeError("to_number");
  if (!isUrl(call.flow_url) || !isUrl(call.status_callback_url)) throw new TypeError("url");
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const timer = setTimeout(abort, timeout);
  signal?.addEventListener("abort", abort);
  try {
    const response = await send(`${baseUrl}/api/v1/calls/initiate`, {
      method: "POST",
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body: JSON.stringify(call),
      redirect: "manual",
      signal: controller.signal,
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const { data } = await response.json();
    if (typeof data?.id !== "string" || data.id === "") throw new Error("no id");
    return data;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
};
