/** The telephones that ring, or are off the hook. */
export const phone: string = `
const phones = new Map();

by("attendant")?.addEventListener("change", async () => {
  const isThere = by("attendant").checked;
  try {
    await ask("attendant/" + (isThere ? "there" : "away"), "POST");
  } catch (error) {
    by("attendant").checked = !isThere;
    announce(error.message);
  }
});

const deed = (id, name, text, kind) =>
  make("button", { type: "button", class: kind + " acts", disabled: !connected, click: async () => {
    try {
      await ask("calls/" + id + "/" + name, "POST");
    } catch (error) {
      announce(error.message);
    }
  } }, text);

const phoneOf = (call) => {
  const state = make("p", { class: "state" });
  const buttons = make("div", { class: "buttons" });
  const card = make("li", { class: "phone", tabindex: "-1" },
    state,
    make("p", { class: "to" }, make("bdi", {}, call.to_number)),
    make("p", { class: "soft" }, "is called by ", make("bdi", { class: "mono" }, call.from_number)),
    buttons);
  return { card, state, buttons, shown: "" };
};

/** More than a few would fill the page. */
const mostPhones = 3;

const countPhones = () => {
  by("quiet").hidden = phones.size > 0;
  by("more-phones").hidden = phones.size <= mostPhones;
  say(by("more-phones"), "and " + (phones.size - mostPhones) + " more");
};

const showPhone = (call, now) => {
  let shown = phones.get(call.id);
  if (isOver(call)) {
    if (!shown) return;
    const held = shown.card.contains(document.activeElement);
    shown.card.remove();
    phones.delete(call.id);
    if (held) (rows.get(call.id)?.button ?? by("reveal")).focus();
  } else {
    if (!shown) {
      shown = phoneOf(call);
      phones.set(call.id, shown);
      by("phones").prepend(shown.card);
    }
    say(shown.state, call.state === "answered" ? "on the line " + span(now - call.answered_at) : call.state);
    if (shown.shown !== call.state) {
      shown.shown = call.state;
      const held = shown.card.contains(document.activeElement);
      shown.card.className = "phone " + call.state;
      shown.buttons.replaceChildren(...(call.state === "answered"
        ? [deed(call.id, "hangup", "Hang up", "refuse")]
        : [call.state === "ringing" ? deed(call.id, "answer", "Answer", "answer") : "", deed(call.id, "reject", "Reject", "refuse")]));
      if (held) shown.buttons.querySelector("button").focus();
    }
  }
  countPhones();
};
`;
