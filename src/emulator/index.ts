export const createEmulator = (): void => {};
