import type { CallAtUrls } from "outdial";

export const params: CallAtUrls = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};
