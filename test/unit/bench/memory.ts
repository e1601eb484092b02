// Stands in for `work/memory.ts`: tells the heap that it is given, or as many bytes as a process has.
const [, , given = "0"] = process.argv;
console.log(given);
