// A clock that is off: loaded before the command.
const now = Date.now.bind(Date);
const by = Number(process.env.CHAOS_SHIFT);
Date.now = () => now() + by;
