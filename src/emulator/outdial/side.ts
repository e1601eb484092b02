import { Account, RecordingUrls, randomSecret, randomText, webhookSigner } from "../account.ts";
import type { MakeSide } from "../side.ts";
import { outdialRoutes } from "./api.ts";
import { followActions } from "./flow.ts";
import { notifications } from "./notifications.ts";

/** outdial's own interface. */
export const outdialSide: MakeSide = ({ settings, random, newId }) => {
  const { webhookSecret = randomSecret(), apiKey, numbers } = settings;
  const account = new Account({ key: apiKey, numbers, newKey: () => `ak_${randomText()}` });
  const accountId = `ac_${newId(Date.now())}`;
  const recordingUrls = new RecordingUrls();
  const sign = webhookSigner(webhookSecret);
  const notificationOf = notifications({ accountId, newId, random, sign });
  return {
    account,
    accountId,
    webhookSecret: () => webhookSecret,
    newCallId: (time) => `cs_${newId(time)}`,
    responseTimeout: 10_000,
    recordingUrl: (origin, id) => recordingUrls.urlOf(origin, id),
    routes: (parts) => outdialRoutes({ account, recordingUrls }, parts),
    messagesOf: (call) => [notificationOf(call)],
    follow: followActions,
  };
};
