/** The fields have no names and the forms no action: without the script the page sends nothing. */
export const document = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Call a list</title>
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body>
<header>
<h1>Call a list</h1>
<p id="announce" role="status"></p>
</header>
<main>
<section id="sign-in">
<h2>Your token</h2>
<form autocomplete="off">
<label>Token <input id="token" type="password" autocomplete="off" required></label>
<button class="primary">Open</button>
</form>
<p class="soft">It stays in the memory of this page only.</p>
</section>

<section id="campaigns" hidden>
<h2>Campaigns</h2>
<ul id="list"></ul>
<details id="new">
<summary>New campaign</summary>
<form id="plan" autocomplete="off">
<label class="wide">Name <input id="name" maxlength="100" required></label>
<label>Calls a second <input id="rate" type="number" min="0.01" step="any" value="1" required></label>
<label>Live at once <input id="concurrency" type="number" min="1" value="10" required></label>
<label>Attempts <input id="attempts" type="number" min="1" max="10" value="1" required></label>
<label>Minutes between <input id="between" type="number" min="0" step="any" value="15" required></label>
<fieldset class="wide">
<legend>When</legend>
<label><input id="hours" type="radio" name="when" checked> In calling hours</label>
<label><input id="always" type="radio" name="when"> At any hour of any day</label>
<div id="window">
<fieldset id="days" class="wide">
<legend>Days</legend>
</fieldset>
<label>From <input id="from" type="time" value="09:00" required></label>
<label>To <input id="to" type="time" value="20:00" required></label>
<label class="wide">Time zone <select id="timezone"></select></label>
</div>
</fieldset>
<button class="primary">Make it</button>
</form>
<p class="soft">Nobody is called before you start it.</p>
</details>
</section>

<section id="campaign" hidden>
<h2><span id="title"></span> <span id="state" class="state"></span></h2>
<p id="summary"></p>
<form id="upload">
<label>List, as CSV with a column to_number <input id="file" type="file" accept=".csv,text/csv" required></label>
<button id="add">Add the list</button>
</form>
<div id="added" role="status"></div>
<div class="buttons">
<button id="start">Start</button>
<button id="pause">Pause</button>
<button id="stop" class="danger">End all calls</button>
<button id="cancel" class="danger">Cancel for good</button>
<button id="download">Download results</button>
</div>
<div id="stopped" role="status"></div>
</section>

<section id="so-far" hidden>
<h2>So far</h2>
<p id="left"></p>
<p id="call-backs" hidden></p>
<label id="bar">Ended <progress id="ended" max="1" value="0"></progress></label>
<dl id="counts"></dl>
<figure>
<figcaption>Calls and outcomes over time</figcaption>
<div id="plot" role="img" aria-label="No calls yet"></div>
<ul id="legend"></ul>
</figure>
<figure id="today" hidden>
<figcaption>Calls of the day, by the hour</figcaption>
<div id="day" role="img" aria-label="No calls today"></div>
<ul id="day-legend"></ul>
</figure>
</section>

<section id="answers" hidden>
<h2>Answers</h2>
<div id="questions"></div>
</section>

<section id="calling-back" hidden>
<details>
<summary>Call somebody back</summary>
<form id="call-back" autocomplete="off">
<label>Number <input id="to_number" type="tel" placeholder="+12025550123" required></label>
<label>At, by your clock <input id="at" type="datetime-local" required></label>
<button>Agree on it</button>
</form>
<p id="agreed" class="soft" role="status"></p>
</details>
</section>

<section id="unknown" hidden>
<h2>Unknown <span id="unknown-count"></span></h2>
<p class="soft">They may have been called, but no final notification arrived. They are not called again automatically.</p>
<button id="show-unknown">Show them</button>
<ol id="unknown-list"></ol>
</section>

<dialog id="sure" aria-labelledby="sure-title">
<h2 id="sure-title">Cancel this campaign for good?</h2>
<p>Waiting contacts will not be called. Live calls continue. A cancelled campaign cannot be resumed.</p>
<form method="dialog" class="answers">
<button value="no" autofocus>Keep it</button>
<button value="yes" class="danger">Cancel for good</button>
</form>
</dialog>

<dialog id="stop-sure" aria-labelledby="stop-title">
<h2 id="stop-title">End all live calls now?</h2>
<p>Whoever is talking is cut off, and the campaign pauses. Start it again to go on with the contacts that wait.</p>
<form method="dialog" class="answers">
<button value="no" autofocus>Go on</button>
<button value="yes" class="danger">End all calls</button>
</form>
</dialog>
</main>
</body>
</html>
`;
