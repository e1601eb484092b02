import { assert } from "chai";
import { type Exception, isException } from "outdial";

/** A key and numbers that no other text contains, so that a search for them can't be wrong. */
export const apiKey = "ak_MARKEDkey0123456789-MARKEDkey0123456789-end";
export const from_number = "+12025550177";
export const to_number = "+12025550188";

/** Parameters that every rule allows. */
export const params = {
  from_number,
  to_number,
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

/** The options of nearly every case. The cases about web pages leave the last one out. */
export const options = { apiKey, dangerouslyAllowBrowser: true } as const;

/** The service's usual answer. */
export const accepted = {
  status: 202,
  json: { message: "Call accepted.", data: { id: "cs_1", from_number, to_number, record: true } },
} as const;

/** A fetch that answers in place, and counts. */
export const answeringFetch = (answer: () => Response = () => Response.json(accepted.json)) => {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    sent.push({ url, init });
    return answer();
  };
  return { fetch, sent };
};

/** The exception that a promise rejects with; fails when it doesn't, or rejects with anything else. */
export const exceptionOf = async (promise: Promise<unknown>): Promise<Exception> => {
  const error = await promise.then(
    () => assert.fail("expected an exception"),
    (reason: unknown) => reason,
  );
  if (!isException(error)) throw error;
  return error;
};
