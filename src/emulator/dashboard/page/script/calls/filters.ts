/** Which of the calls are shown. */
export const filters: string = `
const states = {
  "": () => true,
  active: (call) => !isOver(call),
  completed: (call) => call.state === "completed",
  failed: (call) => call.state === "failed",
  trouble: (call) => call.trouble !== undefined,
};

const digits = (text) => text.replace(/[^+0-9]/g, "");

const isWanted = (call) => {
  const number = digits(by("filter-number").value);
  return states[by("filter-state").value](call) && (call.to_number.includes(number) || call.from_number.includes(number));
};

const filter = () => {
  for (const { list, call } of rows.values()) list.hidden = !isWanted(call);
  countCalls();
};

by("filter-state").addEventListener("change", filter);
by("filter-number").addEventListener("input", filter);
`;
