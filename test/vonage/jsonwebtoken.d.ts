/** The part of jsonwebtoken that signs, as the package brings no types. */
declare module "jsonwebtoken" {
  const jsonwebtoken: {
    sign(claims: object, secret: string, options?: { algorithm?: string }): string;
  };
  export default jsonwebtoken;
}
