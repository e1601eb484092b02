import { withoutThrowing } from "../../../lib/check.ts";
import { VonageError } from "./fields.ts";

/** The type of the API's responses. */
export const contentType = "application/json";

export const notFound = (): VonageError => new VonageError(404, "The resource was not found");

export const notAllowed = (method: string): VonageError =>
  new VonageError(405, `Method ${method} is not allowed`);

/** @throws {VonageError} when it is no JSON */
export const jsonOf = (text: string): unknown => {
  const body = withoutThrowing((): unknown => JSON.parse(text));
  if (body !== undefined) return body;
  throw new VonageError(400, "The body must be JSON");
};

/** @throws {VonageError} that names a field and its rule */
export const refuseField = (name: string, reason: string): never => {
  throw new VonageError(400, "The request has wrong parameters", [{ name, reason }]);
};
