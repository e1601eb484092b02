import { box, button, findById, input, messageOf, select, setText } from "./elements.ts";
import { server } from "./server.ts";

const setStatus = (text: string): void => setText(box("place-status"), text);

const paramsIn = (form: HTMLFormElement): object => Object.fromEntries(new FormData(form));

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A command that places the call. The key is passed on stdin, as arguments are public. */
const curlOf = (key: string, params: object): string =>
  `echo ${quote(`X-API-Key: ${key}`)} | curl ${quote(`${location.origin}/api/v1/calls/initiate`)}` +
  ` -H @- -H 'Content-Type: application/json' -d ${quote(JSON.stringify(params))}`;

/** The names of the fields at Twilio and Telnyx. */
const formNames: Readonly<Record<string, string>> = {
  to_number: "To",
  from_number: "From",
  flow_url: "Url",
  status_callback_url: "StatusCallback",
};

/** The same for a carrier that takes a form: its path, and a line of curl's configuration with the key. */
const formCurlOf = (path: string, credentials: string, params: object): string =>
  `echo ${quote(credentials)} | curl ${quote(`${location.origin}${path}`)} -K -` +
  Object.entries(params)
    .map(([name, value]) => ` --data-urlencode ${quote(`${formNames[name] ?? name}=${value}`)}`)
    .join("");

/** The options of `outdial call` for the fields of a call. */
const flagNames: Readonly<Record<string, string>> = {
  to_number: "to",
  from_number: "from",
  flow_url: "flow",
  status_callback_url: "callback",
};

/** Vonage's tokens expire: the command signs one itself. */
const vonageLineOf = (key: string, account: string, params: object): string =>
  `OUTDIAL_API_KEY=${quote(key.trim().replace(/\s+/g, " "))} outdial call --service vonage` +
  ` --account ${quote(account)} --base-url ${quote(location.origin)}` +
  Object.entries(params)
    .map(([name, value]) => ` --${flagNames[name] ?? name} ${quote(String(value))}`)
    .join("");

/** The commands of the carriers. */
const carrierCurls: Readonly<
  Record<string, (key: string, account: string, params: object) => string>
> = {
  twilio: (key, account, params) =>
    formCurlOf(`/2010-04-01/Accounts/${account}/Calls.json`, `user = "${account}:${key}"`, params),
  telnyx: (key, account, params) =>
    formCurlOf(`/v2/texml/calls/${account}`, `header = "Authorization: Bearer ${key}"`, params),
  vonage: vonageLineOf,
};

/** Whether calls can be placed on this page. */
export const canPlace = (): boolean => findById("place", HTMLFormElement) !== undefined;

/** Connects the controls of the section "Place a call", if the page has it. */
export const startPlacing = (): void => {
  const form = findById("place", HTMLFormElement);
  if (!form) return;
  select("scenario").addEventListener("change", () => {
    input("to-number").value = select("scenario").value;
  });
  // An invalid field must be visible to be corrected.
  const showFields = (): void => {
    for (const details of form.querySelectorAll("details")) details.open = true;
  };
  form.addEventListener("invalid", showFields, true);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    setStatus("");
    try {
      const { status, message } = await server.place(paramsIn(form));
      setStatus(status === undefined ? `No answer: ${message}` : `HTTP ${status}: ${message}`);
    } catch (error) {
      setStatus(`That did not work: ${messageOf(error)}`);
    }
  });
  button("copy-curl").addEventListener("click", async () => {
    try {
      const { key } = await server.key();
      const { service = "", account = "" } = box("dashboard").dataset;
      const params = paramsIn(form);
      const line = carrierCurls[service]?.(key, account, params) ?? curlOf(key, params);
      await navigator.clipboard.writeText(line);
      setStatus("Copied, with the key in it.");
    } catch (error) {
      setStatus(`That did not work: ${messageOf(error)}`);
    }
  });
};
