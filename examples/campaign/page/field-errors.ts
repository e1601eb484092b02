import { box, make } from "./elements.ts";
import type { Refusal } from "./server.ts";

/** The fields of the page whose names are not those of the plan. */
const renamed: Readonly<Record<string, string>> = { retryDelay: "between", window: "days" };

const noteOf = (id: string): string => `${id}-error`;

/** Shows at its field what is wrong with it. */
export const showFieldError = (id: string, message: string): void => {
  const field = box(id);
  const note = make("p", message);
  note.id = noteOf(id);
  note.className = "error";
  // It is the description of the field, and no part of its label.
  note.setAttribute("aria-hidden", "true");
  field.setAttribute("aria-describedby", note.id);
  if (field instanceof HTMLInputElement) field.setAttribute("aria-invalid", "true");
  (field.closest("label") ?? field).append(note);
};

/** Removes what `showFieldError` has shown. */
export const clearFieldErrors = (): void => {
  for (const note of document.querySelectorAll(".error")) note.remove();
  for (const field of document.querySelectorAll("[aria-describedby$='-error']")) {
    field.removeAttribute("aria-describedby");
    field.removeAttribute("aria-invalid");
  }
};

/**
 * Shows why a form was refused, at the fields that break a rule, and focuses the first of them.
 *
 * @param fallback - the id of the field that a refusal without fields is about, if there is one
 * @returns whether there is such a field
 */
export const showAtFields = ({ message, issues }: Refusal, fallback?: string): boolean => {
  const errors = issues.map(({ param, message: rule }) => {
    const name = param.split(".").at(-1) ?? param;
    return { id: renamed[name] ?? name, message: rule };
  });
  const known = errors.filter(({ id }) => document.getElementById(id) !== null);
  if (errors.length === 0 && fallback !== undefined) known.push({ id: fallback, message });
  if (known.length === 0 || known.length < errors.length) return false;
  for (const error of known) showFieldError(error.id, error.message);
  const [first] = known;
  if (first) box(first.id).focus();
  return true;
};
