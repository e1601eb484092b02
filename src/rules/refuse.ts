import { BadParametersException } from "../errors.ts";

/** @throws {BadParametersException} (`placed: "no"`) that names a parameter, and the rule that it breaks */
export const refuse = (param: string, message: string): never => {
  throw new BadParametersException([{ param, message }]);
};
