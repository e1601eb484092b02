import { expect, test } from "vitest";
import { redactor } from "../../../src/request/redact.ts";

const redact = redactor("ak_1.*", "+12025550177");

test.each([
  ["key ak_1.* here and ak_1.* there", "key *** here and *** there"],
  ["ak_1xx is another", "ak_1xx is another"],
  ["+12025550177, %2B12025550177, 12025550177", "+***, %2B***, ***"],
  ["nothing", "nothing"],
  [12025550177, "***"],
  [undefined, "undefined"],
])("%s becomes %s", (text, clean) => expect(redact(text)).toBe(clean));
