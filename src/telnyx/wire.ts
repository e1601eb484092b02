/** The headers of a signed request, in lower case. */
export const signatureHeaders = {
  /** Ed25519 of `signedBytes`, in base64. */
  signature: "telnyx-signature-ed25519",
  /** When it was signed, in Unix seconds. */
  timestamp: "telnyx-timestamp",
} as const;
