/** What `outdial --help` prints. */
export const help: string = `outdial places outbound voice calls, and is the service on your own machine.

outdial call --from <number> --to <number> --flow <url> --callback <url>
    --from, --to        E.164: "+" and 7 to 15 digits
    --flow              where the service asks what to do, once the call is answered
    --callback          where the service tells what happens
    --no-record         no recording (calls are recorded otherwise)
    --base-url <url>    the service (or OUTDIAL_BASE_URL)
    --timeout <ms>      how long it may take, or "false" (10000 otherwise)
    --json              the whole call as one line of JSON, not only its id

    The key is read from OUTDIAL_API_KEY, and from nowhere else.
    Exit 0: placed, the id is on stdout. 1: refused, nothing was placed.
    2: the command line is wrong, nothing was sent. 3: it may have been placed.

outdial emulator [--port <port>] [--host <host>] [--number <number>]… [--speed <factor>]
    --port              4010 otherwise; 0 for any that is free
    --host              127.0.0.1 otherwise
    --number            a number that may call, once for each; any may otherwise
    --speed             how many times as fast as real time everything happens

    The whole service on this machine, with a dashboard. Ctrl-C ends it.

outdial --help, outdial --version`;
