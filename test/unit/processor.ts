/** Milliseconds of the processor that this process has used so far: other programs don't lengthen them, as they do a wait. */
export const processorTime = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
