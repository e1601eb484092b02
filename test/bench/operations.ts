/** What is measured beside placing calls: the files in `operations/`. */
export const operations = [
  "lifecycle",
  "sign-url",
  "verify-url",
  "handler-url",
  "handler-webhook",
  "standardwebhooks-handler",
  "standardwebhooks-sign",
] as const;
