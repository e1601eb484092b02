import type { Script } from "outdial/campaigns";
import { gather, say } from "outdial/flows";

const ask = (text: string, as: string, next: "price" | "thanks") => {
  const on = { 1: next, 2: next, 3: next, 4: next, 5: next, 9: "stop" } as const;
  return gather(`${text} From 1 to 5; 9 for no more calls.`, { as, digits: 1, on, tries: 2 });
};

export default {
  onMachine: () => say("We wanted to ask how your visit was, and will call again."),
  onAnswer: () => ask("How was your visit?", "visit", "price"),
  steps: {
    price: () => ask("And the price?", "price", "thanks"),
    thanks: () => say("Thank you."),
    stop: async ({ contact, campaign }) => {
      await campaign.block(contact.to_number);
      return say("We will not call again.");
    },
  },
} satisfies Script<"price" | "thanks" | "stop">;
