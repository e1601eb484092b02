/** Whether an emulator answers at a base URL; it says so in a header, and needs no key for that. */
export const isEmulator = async (baseUrl: string): Promise<boolean> => {
  const signal = AbortSignal.timeout(500);
  const init = { signal, redirect: "manual" } as const;
  const { headers } = await fetch(baseUrl, init).catch(() => new Response());
  return headers.get("Server") === "outdial-emulator";
};
