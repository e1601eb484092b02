import { expect, it } from "vitest";
import { signatureOf } from "../../../../src/carriers/twilio/server/carrier.ts";

const fields = {
  To: "+18005551212",
  Digits: "1234",
  CallSid: "CA1234567890ABCDE",
  From: "+14158675310",
  Caller: "+14158675310",
};
const url = "https://example.com/myapp.php?foo=1&bar=2";
const documented = "L/OH5YylLD5NRKLltdqwSvS0BnU=";

it("signs as Twilio's documentation shows, whatever the order of the fields", () => {
  expect(signatureOf("12345", url, fields)).toBe(documented);
});

it("leaves out the fragment, and with https the port", () => {
  expect(signatureOf("12345", `${url}#rc=2`, fields)).toBe(documented);
  expect(signatureOf("12345", url.replace(".com", ".com:8443"), fields)).toBe(documented);
  const plain = "http://127.0.0.1/";
  const ports = [plain, plain.replace(".1/", ".1:8080/")];
  const [without, withPort] = ports.map((each) => signatureOf("12345", each, {}));
  expect(without).not.toBe(withPort);
});

it("signs the URL alone without fields", () => {
  const hash = "0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620";
  const json = `https://mycompany.com/myapp.php?foo=1&bar=2&bodySHA256=${hash}`;
  expect(signatureOf("12345", json, {})).toBe("a9nBmqA0ju/hNViExpshrM61xv4=");
});
