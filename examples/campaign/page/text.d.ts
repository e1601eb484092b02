/** What the build has made of the page, as text. */
declare module "*.txt" {
  const text: string;
  export default text;
}
