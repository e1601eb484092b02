/** What a caller picks by the number that it dials, in the words of the page. */
export const scenarios: Readonly<Record<string, string>> = {
  "+12025550100": "answers",
  "+12025550101": "busy",
  "+12025550102": "never answers",
  "+12025550103": "rejects",
  "+12025550104": "unreachable",
  "+12025550105": "answers, and hangs up midway",
  "+12025550110": "the API answers 503",
  "+12025550111": "the API answers 429",
  "+12025550112": "the API never answers, but places the call",
  "+12025550113": "the API stalls in its answer",
  "+12025550114": "the API drops the connection",
  "+12025550115": "the API's answer is not JSON",
};
