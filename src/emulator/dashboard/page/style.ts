/** How the dashboard's pages look, in light and in dark, from 320 pixels on. */
export const style: string = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f7f9, #101418);
  --card: light-dark(#ffffff, #191e24);
  --sunk: light-dark(#eff1f4, #12161b);
  --line: light-dark(#d9dee5, #2c343d);
  --text: light-dark(#171c22, #e8ecf1);
  --soft: light-dark(#566170, #9ba8b7);
  --main: light-dark(#1858c4, #8ab4ff);
  --good: light-dark(#14723c, #5fd08c);
  --warn: light-dark(#8a5200, #f2b441);
  --bad: light-dark(#b3261e, #ff8a80);
  --on-main: light-dark(#ffffff, #0b1422);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
* { box-sizing: border-box; }
html { scrollbar-gutter: stable; }
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif;
}
h1, h2, h3, p, ol, ul, dl, dd, pre { margin: 0; padding: 0; }
ol, ul { list-style: none; }
h1 { font-size: 1.125rem; }
h2 { font-size: 1rem; }
h3 { font-size: 1rem; font-weight: 400; }
h1 span, h2 span, .soft { color: var(--soft); font-weight: 400; }
.soft { font-size: .875rem; }
code, pre, .mono { font-family: var(--mono); font-size: .875rem; font-variant-numeric: tabular-nums; }
bdi { overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
[hidden] { display: none !important; }

header, main { max-width: 76rem; margin: 0 auto; padding: 1rem clamp(.75rem, 3vw, 2rem); }
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; justify-content: space-between; padding-bottom: 0; }
#lost { flex: 1 0 100%; margin-top: .5rem; padding: .5rem 1rem; border-radius: .5rem; background: var(--bad); color: var(--on-main); font-weight: 600; }
main { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
#aside { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 60rem) {
  main { grid-template: auto 1fr / minmax(0, 1fr) 20rem; align-items: start; }
  #aside { grid-area: 1 / 2 / span 2; position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; scrollbar-width: thin; }
}
section { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem; }
section > h2 { display: flex; justify-content: space-between; gap: 1rem; margin-bottom: .5rem; }

button, input, select {
  font: inherit; font-size: .9375rem; min-height: 2.5rem; padding: .375rem .875rem;
  border: 1px solid var(--line); border-radius: .5rem; background: var(--card); color: var(--text);
}
button, select, summary, .switch { cursor: pointer; }
button:hover, select:hover { border-color: var(--soft); }
:disabled { opacity: .6; cursor: default; }
label { font-size: .875rem; color: var(--soft); }
label input, label select { display: block; width: 100%; margin-top: .125rem; }
input[type="tel"], input[type="url"], input[type="search"] { font-family: var(--mono); font-size: .875rem; }
input:user-invalid { border-color: var(--bad); }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
.primary { background: var(--main); border-color: var(--main); color: var(--on-main); font-weight: 600; }
.answer { background: var(--good); border-color: var(--good); color: var(--on-main); font-weight: 600; }
.refuse { background: var(--bad); border-color: var(--bad); color: var(--on-main); font-weight: 600; }

.key { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.key button { flex: 1 0 auto; }
.key code { flex: 1000 1 18rem; min-width: 0; padding: .5rem .75rem; background: var(--sunk); border-radius: .5rem; overflow-wrap: anywhere; min-height: 2.5rem; }
#key-said { min-height: 1.5rem; margin-top: .5rem; }

dialog { width: min(28rem, calc(100vw - 2rem)); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; background: var(--card); color: var(--text); }
dialog::backdrop { background: rgb(0 0 0 / 55%); }
dialog form { display: flex; flex-wrap: wrap; gap: .5rem; justify-content: flex-end; margin-top: 1rem; }
dialog p { margin-top: .5rem; }

.state { display: inline-flex; align-items: center; gap: .375rem; font-size: .875rem; }
.state::before { content: ""; flex: none; width: .625rem; height: .625rem; border-radius: 50%; background: currentColor; }
.initiated { color: var(--soft); }
.ringing, .retrying { color: var(--warn); }
.answered, .main { color: var(--main); }
.completed, .delivered, .good { color: var(--good); }
.failed, .given_up, .bad { color: var(--bad); }
@media (prefers-reduced-motion: no-preference) {
  .state.ringing::before, .ringing > .state::before { animation: ring 1s ease-in-out infinite; }
  @keyframes ring { 50% { transform: scale(.5); opacity: .5; } }
}

#calls > li { border-top: 1px solid var(--line); content-visibility: auto; contain-intrinsic-size: auto 2.75rem; }
#calls > li:last-child { margin-bottom: -.5rem; }
#calls h3 button {
  display: grid; gap: .125rem .75rem; width: 100%; align-items: baseline;
  grid: "open numbers numbers numbers" "open when state long" "open trouble trouble trouble" / auto auto minmax(0, 1fr) auto;
  padding: .625rem .5rem; border: 0; border-radius: .375rem; background: none; text-align: start;
}
#calls h3 button:hover { background: var(--sunk); }
#calls h3 button::before {
  content: ""; grid-area: open; width: .5rem; height: .5rem; margin: .3125rem .125rem 0; align-self: start;
  border: solid var(--soft); border-width: 0 2px 2px 0; transform: rotate(-45deg);
}
#calls h3 button[aria-expanded="true"]::before { transform: rotate(45deg); }
#calls .when { grid-area: when; }
#calls .numbers { grid-area: numbers; }
#calls h3 .state { grid-area: state; }
#calls .long { grid-area: long; text-align: end; }
#calls .trouble { grid-area: trouble; color: var(--warn); font-size: .875rem; overflow-wrap: anywhere; }
@media (prefers-reduced-motion: no-preference) {
  #calls h3 button::before { transition: transform .15s; }
}
@media (min-width: 40rem) {
  #calls h3 button { grid: "open when numbers state long" "open trouble trouble trouble trouble" / auto 4.5rem minmax(0, 1fr) 11rem 3.5rem; }
}
.numbers { overflow-wrap: anywhere; }
.numbers i { color: var(--soft); font-style: normal; }
.open { padding: .25rem .5rem 1rem; display: grid; gap: 1rem; }
.facts { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .125rem .75rem; padding: .75rem; border-radius: .5rem; background: var(--sunk); font-size: .875rem; }
.facts dt { color: var(--soft); }
.facts dd { font-family: var(--mono); overflow-wrap: anywhere; }

.timeline > li { position: relative; display: grid; grid-template-columns: 4.25rem minmax(0, 1fr); column-gap: 2.25rem; padding-bottom: .75rem; }
.timeline > li::before {
  content: ""; position: absolute; left: 5.0625rem; top: .4375rem; width: .625rem; height: .625rem; border-radius: 50%;
  background: var(--card); border: 2px solid var(--soft); z-index: 1;
}
.timeline > li.step::before { background: currentColor; border-color: currentColor; }
.timeline > li:not(:last-child)::after {
  content: ""; position: absolute; left: 5.3125rem; top: .875rem; bottom: -.5rem; border-left: 2px solid var(--line);
}
.timeline time { text-align: end; color: var(--soft); font-family: var(--mono); font-size: .8125rem; line-height: 1.5rem; }
.timeline .what { color: var(--text); min-width: 0; }
.timeline .step .what > b { color: inherit; }
.timeline b { font-weight: 600; }
.timeline .what > b.good { color: var(--good); }
.timeline .what > b.bad { color: var(--bad); }
.timeline .what > b.retrying { color: var(--warn); }
@media (max-width: 40rem) {
  .timeline > li { grid-template-columns: minmax(0, 1fr); padding-inline-start: 1.375rem; }
  .timeline > li::before { left: 0; }
  .timeline > li:not(:last-child)::after { left: .25rem; }
  .timeline time { text-align: start; line-height: 1.25rem; }
}
summary { cursor: pointer; color: var(--main); font-size: .875rem; width: fit-content; padding: .125rem 0; border-radius: .25rem; }
details h4 { overflow-wrap: anywhere; margin: .5rem 0 .25rem; font-size: .8125rem; color: var(--soft); font-weight: 600; }
pre { padding: .625rem .75rem; background: var(--sunk); border-radius: .5rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8125rem; }
audio { display: block; width: min(100%, 24rem); height: 2.5rem; margin-top: .375rem; }

.voices { margin: 0; padding: .75rem; border-radius: .5rem; background: var(--sunk); }
.voices svg { display: block; width: 100%; height: 6rem; }
.voices path { vector-effect: non-scaling-stroke; }
.voices .callee { fill: var(--good); }
.voices .application { fill: var(--main); }
.voices .axis { stroke: var(--line); }
.voices .cut { stroke: var(--bad); stroke-width: 2px; stroke-dasharray: 4 3; }
#plot { margin: .25rem 0 .75rem; }
#plot svg { display: block; width: 100%; height: 4rem; border-bottom: 1px solid var(--line); }
#plot rect { fill: currentColor; }
#plot rect.active { color: var(--main); }
#plot figcaption, .voices figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-top: .25rem; font-variant-numeric: tabular-nums; }
.legend { display: flex; flex-wrap: wrap; gap: 0 .75rem; }
@media (max-width: 40rem) {
  .legend { order: 1; flex: 1 0 100%; }
}
.filters { display: flex; flex-wrap: wrap; gap: .5rem; margin-bottom: .75rem; }
.filters label { flex: 1 1 8rem; }

.switch { display: flex; gap: .625rem; align-items: center; color: var(--text); margin-bottom: .75rem; font-size: .9375rem; min-height: 1.5rem; }
.switch input {
  appearance: none; flex: none; position: relative; width: 2.5rem; height: 1.5rem; min-height: 0; margin: 0; padding: 0; border-radius: 1rem;
  border: 2px solid var(--soft); background: var(--sunk); cursor: inherit;
}
.switch input::before { content: ""; position: absolute; left: .1875rem; top: .1875rem; width: .875rem; height: .875rem; border-radius: 50%; background: var(--soft); }
.switch input:checked { background: var(--main); border-color: var(--main); }
.switch input:checked::before { left: 1.1875rem; background: var(--on-main); }

#place { display: grid; gap: .75rem; grid-template-columns: minmax(0, 1fr); }
#place details label { display: block; margin-top: .5rem; }
#place .buttons { display: flex; flex-wrap: wrap; gap: .5rem; }
#place .buttons button { flex: 1 1 auto; }
#place-said { min-height: 1.5rem; overflow-wrap: anywhere; }
#place-said:empty { display: none; }

#phones { display: grid; gap: .75rem; }
#phones:empty { display: none; }
#phones > :nth-child(n + 4) { display: none; }
#more-phones { margin-top: .5rem; }
.phone { border: 2px solid currentColor; border-radius: .75rem; padding: .875rem; }
.phone > * { color: var(--text); }
.phone .state { color: inherit; }
.phone .to { font-family: var(--mono); font-size: 1.25rem; font-weight: 600; overflow-wrap: anywhere; }
.phone .buttons { display: flex; gap: .5rem; margin-top: .75rem; }
.phone button { flex: 1; }

.alone { display: block; max-width: 30rem; margin: 12vh auto 0; }
.alone form { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: 1rem; }
.alone label { flex: 1 0 100%; font-size: .875rem; }
.alone input { flex: 1 1 12rem; min-width: 0; font-family: var(--mono); }
.alone p { margin-top: .75rem; }
`;
