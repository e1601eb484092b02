/** What the operations about notifications sign, verify and receive. */
export const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq=";
export const urlSecret = "a secret that was made at random";
export const url = "https://app.test/status";
export const body: string = JSON.stringify({
  id: "evt_01HZX3V5J8Q2T4W6Y8A0C2E4G6",
  type: "call.completed",
  api_version: "2026-06-01",
  occurred_at: "2026-11-20T12:00:00.000Z",
  account_id: "ac_01HZX3V5J8Q2T4W6Y8A0C2E4G6",
  call_id: "cs_01HZX3V5J8Q2T4W6Y8A0C2E4G6",
  data: {
    call_id: "cs_01HZX3V5J8Q2T4W6Y8A0C2E4G6",
    from: "+12025550199",
    to: "+12025550100",
    duration: 42,
    hangup_time: "2026-11-20T12:00:00.000Z",
    reason: "normal",
  },
});
