/** What the exit codes of a command that places one call mean. */
export const placingExits = {
  0: "placed; its id is on stdout",
  1: "refused or never sent: nobody was called",
  2: "the command line is wrong; nothing was sent",
  3: "a call may have been placed: find out before you call again",
} as const;
