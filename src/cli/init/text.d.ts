/** A file as it is, as text: read by `tsup.config.ts` when the package is built. */
declare module "*?text" {
  const text: string;
  export default text;
}
