/** The version of this package: that of package.json, as a test compares. */
export const version = "0.1.0";
