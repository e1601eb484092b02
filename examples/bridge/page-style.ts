/** The page's style. */
export const style = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 4rem auto; padding: 0 1rem; }
form { display: grid; gap: 1rem; }
label { display: grid; gap: 0.25rem; }
input, button { font: inherit; padding: 0.5rem; }
time { font-variant-numeric: tabular-nums; margin-right: 0.75rem; }
`;
