import type { CallRecord } from "../../../server/history.ts";
import type { PlacedCall } from "../placing.ts";
import type { Voices } from "../updates.ts";
import { box, setText } from "./elements.ts";

let isConnected = false;
let focusedBefore: Element | null = null;

const controls = (): NodeListOf<HTMLButtonElement | HTMLInputElement> =>
  document.querySelectorAll<HTMLButtonElement | HTMLInputElement>(".acts");

const updateControls = (): void => {
  for (const control of controls()) control.disabled = !isConnected;
};

/** Whether the emulator responds: without it, every control that needs it is disabled. */
export const connected = (): boolean => isConnected;

export const connect = (): void => {
  if (isConnected) return;
  isConnected = true;
  setText(box("live"), "live");
  box("lost").hidden = true;
  updateControls();
  const isFocusLost = document.activeElement === document.body;
  if (isFocusLost && focusedBefore instanceof HTMLElement) focusedBefore.focus();
};

/** @param reason - shown until the connection is back */
export const disconnect = (reason: string): void => {
  if (isConnected) focusedBefore = document.activeElement;
  isConnected = false;
  setText(box("live"), "not connected");
  setText(box("lost"), reason);
  box("lost").hidden = false;
  updateControls();
};

/** @throws {Error} with the emulator's reason, or because it does not respond */
const request = async <T>(path: string, method = "GET", body?: unknown): Promise<T> => {
  const sent = fetch(`/dashboard/${path}`, {
    method,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const { ok, answer } = await sent
    .then(async (response) => ({ ok: response.ok, answer: await response.json() }))
    .catch(() => {
      disconnect("The emulator does not respond. This page shows an earlier state.");
      throw new Error("The emulator does not respond.");
    });
  if (!ok) throw new Error(answer.detail);
  return answer;
};

/** The requests of the page to its own emulator. */
export const server = {
  key: (): Promise<{ readonly key: string }> => request("key"),
  regenerateKey: (): Promise<{ readonly key: string }> => request("key", "POST"),
  call: (id: string): Promise<CallRecord> => request(`calls/${id}`),
  voices: (id: string): Promise<Voices> => request(`calls/${id}/voices`),
  place: (params: object): Promise<PlacedCall> => request("calls", "POST", params),
  command: (params: object): Promise<{ readonly command: string }> =>
    request("command", "POST", params),
  act: (id: string, action: "answer" | "reject" | "hangup"): Promise<unknown> =>
    request(`calls/${id}/${action}`, "POST"),
  press: (id: string, digit: string): Promise<unknown> =>
    request(`calls/${id}/press/${encodeURIComponent(digit)}`, "POST"),
  setAttendant: (isPresent: boolean): Promise<unknown> =>
    request(`attendant/${isPresent ? "present" : "absent"}`, "POST"),
} as const;
