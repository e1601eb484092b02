export const page = (_request: Request): Response | undefined => undefined;
