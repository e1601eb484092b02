import { expect, test } from "vitest";
import {
  BadParametersException,
  type Exception,
  ForbiddenException,
  isException,
  NetworkException,
  ServiceException,
  TimeoutException,
  UnauthorizedException,
} from "../../src/errors.ts";

const classes = {
  ServiceException,
  UnauthorizedException,
  ForbiddenException,
  TimeoutException,
  NetworkException,
};

test.each(Object.entries(classes))(
  "%s has its literal name and is a ServiceException",
  (name, Class) => {
    const error = new Class("What", { placed: "maybe" });
    expect(error.name).toBe(name);
    expect(error).toBeInstanceOf(ServiceException);
    expect(error.message).toBe("What (a call may have been placed)");
  },
);

test("a fact that is not known is not there", () => {
  const error = new ServiceException("What", { placed: "no", code: 500, detail: undefined });
  expect(Object.keys(error).sort()).toEqual(["code", "name", "placed"]);
});

test("bad parameters are reported all at once, the first as param", () => {
  const error = new BadParametersException([
    { param: "a", message: "is missing" },
    { param: "b", message: "is unknown" },
  ]);
  expect(error.message).toBe("a is missing; b is unknown");
  expect([error.param, error.placed, error.issues.length]).toEqual(["a", "no", 2]);
});

test("isException takes these and no others", () => {
  expect(isException(new TimeoutException("", { placed: "no" }))).toBe(true);
  for (const other of [
    new Error(),
    new DOMException("", "AbortError"),
    { name: "TimeoutException" },
    null,
  ]) {
    expect(isException(other)).toBe(false);
  }
});

test("a switch over the names is exhaustive, and narrows", () => {
  const param = (error: Exception): string => {
    switch (error.name) {
      case "BadParametersException":
        return error.param;
      case "ServiceException":
      case "UnauthorizedException":
      case "ForbiddenException":
      case "TimeoutException":
      case "NetworkException":
        return error.placed ?? "";
    }
  };
  expect(param(new BadParametersException([{ param: "a", message: "" }]))).toBe("a");
  expect(param(new NetworkException("", { placed: "maybe" }))).toBe("maybe");
});
