import { announceable } from "../../flows/wire.ts";
import { fail } from "../../lib/check.ts";
import {
  Account,
  isWebhookSecret,
  RecordingUrls,
  randomSecret,
  randomText,
  webhookSigner,
} from "../account.ts";
import type { MakeSide } from "../side.ts";
import { outdialRoutes } from "./api.ts";
import { type ActionSide, followActions } from "./flow.ts";
import { notifications, signedMessage } from "./notifications.ts";
import { FlowRecordings } from "./recordings.ts";

/** outdial's own interface. */
export const outdialSide: MakeSide = ({ settings, random, newId }) => {
  const { webhookSecret = randomSecret(), apiKey, numbers, lasting } = settings;
  if (!isWebhookSecret(webhookSecret)) {
    fail("webhookSecret", 'must be "whsec_" and base64 of 24 to 64 bytes');
  }
  const account = new Account({ key: apiKey, numbers, newKey: () => `ak_${randomText()}` });
  const accountId = lasting?.accountId ?? `ac_${newId(Date.now())}`;
  const announced = settings.actions === "basic" ? undefined : announceable;
  const recordingUrls = new RecordingUrls(lasting?.recordingSecret);
  const sign = webhookSigner(webhookSecret);
  const notificationOf = notifications({ accountId, newId, random, sign });
  const recordings = new FlowRecordings({
    urls: recordingUrls,
    messageOf: (call, data) => notificationOf(call, { type: "recording.completed", data }),
  });
  const side: ActionSide = {
    announced,
    beginRecording: (call, as, parts) => recordings.begin(call, as, parts),
  };
  return {
    account,
    accountId,
    webhookSecret: () => webhookSecret,
    newCallId: (time) => `cs_${newId(time)}`,
    responseTimeout: 10_000,
    recordingUrl: (origin, id) => recordingUrls.urlOf(origin, id),
    routes: (parts) =>
      outdialRoutes({ account, recordingUrls, recordings, takesFlow: !!announced }, parts),
    messagesOf: (call) => [notificationOf(call)],
    restore: (call, _, url) => recordings.add(call, url),
    messageFrom: signedMessage({ random, sign }),
    follow: (call, parts) => followActions(call, parts, side),
  };
};
