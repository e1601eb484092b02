/** The `SipResponseCode` of a callee who declines: its `CallStatus` is `no-answer`. */
export const declined = "603";
