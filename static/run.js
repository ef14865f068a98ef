/* Enhancements of a run's page; the socket is left to htmx. */

const seconds = 1000;
const page = document.querySelector(".run");

// keep what did not change:

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  if (target.matches(".outcome") && isReading()) stayAtResearch();
  if (target.dataset.rows === undefined) {
    keepOpen(target, fragment.firstElementChild);
    event.detail.shouldSwap = !isSame(target, fragment.firstElementChild);
    return;
  }
  const next = [...fragment.children];
  if (target.closest(".aspects") && !target.children.length) keepForm(next.length);
  if (target.closest(".drafting") && !target.children.length) openDraft();
  if (next.some((row) => document.getElementById(row.id))) {
    event.detail.shouldSwap = false;
    settleRows(target, next);
  } else {
    holdNew(target, next);
  }
});

// A push does not close what somebody has opened.
function keepOpen(old, next) {
  const known = [...old.querySelectorAll("details")];
  const fresh = [...(next?.querySelectorAll("details") ?? [])];
  if (known.length !== fresh.length) return;
  fresh.forEach((details, place) => (details.open = known[place].open));
}

const isSame = (old, next) => next !== null && old.id === next.id && old.isEqualNode(next);

function settleRows(list, rows) {
  const ids = new Set(rows.map((row) => row.id));
  if (!isHeld(list)) for (const old of [...list.children]) if (!ids.has(old.id)) old.remove();
  const fresh = rows.filter((row) => !document.getElementById(row.id));
  rows.forEach((row, place) => {
    const old = document.getElementById(row.id);
    const kept = old ? settleRow(old, row) : row;
    if (list.children[place] !== kept) list.insertBefore(kept, list.children[place] ?? null);
  });
  holdNew(list, fresh);
}

function keepForm(rows) {
  document.querySelector(".aspects").classList.toggle("roomy", rows > 0 && rows < 5);
}

const aspects = document.querySelectorAll(".aspect").length;
if (aspects) keepForm(aspects);

function openDraft() {
  document.querySelector(".drafting details").open = !isReading();
}

function settleRow(old, row) {
  if (row.dataset.parts !== undefined) {
    for (const part of row.querySelectorAll("[id]")) {
      const known = document.getElementById(part.id);
      if (known && !isSame(known, part)) known.replaceWith(part);
    }
    return old;
  }
  if (isSame(withoutMarks(old), row)) return old;
  row.hidden = old.hidden;
  old.replaceWith(row);
  return row;
}

function withoutMarks(row) {
  const copy = row.cloneNode(true);
  copy.removeAttribute("hidden");
  copy.classList.remove("htmx-added", "htmx-settling");
  return copy;
}

// new evidence waits while somebody reads:

const newer = document.getElementById("show-newer");

function isReading() {
  const chosen = document.getSelection();
  return (
    window.scrollY > 80 ||
    (chosen && !chosen.isCollapsed) ||
    document.querySelector(".evidence details[open], .research :focus") !== null
  );
}

// A report does not take away what somebody reads or types.
function stayAtResearch() {
  page.dataset.tab = "research";
  const [report, research] = page.querySelectorAll(".run-tabs a");
  report.removeAttribute("aria-current");
  research.ariaCurrent = "page";
}

const isHeld = (list) => list.dataset.holdsNew !== undefined && newer && isReading();

function holdNew(list, rows) {
  if (!isHeld(list) || !list.children.length) return;
  for (const row of rows) row.hidden = true;
  requestAnimationFrame(countNew);
}

const held = () => document.querySelectorAll("[data-holds-new] > [hidden]");

function countNew() {
  newer.textContent = newer.dataset.text.replace("{count}", held().length);
  newer.parentElement.hidden = held().length === 0;
}

newer?.addEventListener("click", () => {
  for (const row of held()) row.hidden = false;
  countNew();
});

// fields that grow with their text, where the browser can't:

function grow() {
  for (const field of document.querySelectorAll(":is(.plan-lines, .plan-terms) textarea")) {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  }
}

if (!CSS.supports("field-sizing", "content")) {
  for (const kind of ["input", "htmx:afterSwap"]) document.addEventListener(kind, grow);
  window.addEventListener("resize", grow);
  grow();
}

// a lost connection:

const lost = document.querySelector(".lost");
let isLeft = false;
window.addEventListener("pagehide", () => (isLeft = true));
window.addEventListener("pageshow", () => (isLeft = false));

// htmx does not reconnect after other codes.
document.addEventListener("htmx:wsClose", ({ detail }) => {
  if (isLeft || lost.textContent || ![1006, 1011, 1012, 1013].includes(detail.event.code)) return;
  const time = { hour: "2-digit", minute: "2-digit" };
  const since = new Date().toLocaleTimeString(document.documentElement.lang, time);
  lost.textContent = lost.dataset.text.replace("{time}", since);
});
document.addEventListener("htmx:wsOpen", () => (lost.textContent = ""));

// how long it has been:

const [s, min, h] = page.dataset.units.split(" ");

function lasting(passed) {
  if (passed < 60) return `${passed} ${s}`;
  const minutes = Math.floor(passed / 60);
  const rest = (value) => String(value % 60).padStart(2, "0");
  return passed < 3600
    ? `${minutes}:${rest(passed)} ${min}`
    : `${Math.floor(minutes / 60)}:${rest(minutes)} ${h}`;
}

setInterval(() => {
  if (lost?.textContent) return;
  for (const age of document.querySelectorAll("time[data-lasting]")) {
    const passed = Math.round((Date.now() - Date.parse(age.dateTime)) / seconds);
    age.textContent = lasting(Math.max(0, passed));
  }
}, seconds);

// notification of the end:

const tellMe = document.getElementById("tell-me");
const wish = `tell ${page.id}`;
const isWished = () => sessionStorage.getItem(wish) !== null;

function showWish() {
  tellMe.setAttribute("aria-pressed", isWished());
  tellMe.disabled = Notification.permission === "denied";
  if (tellMe.disabled) tellMe.lastChild.textContent = tellMe.dataset.blocked;
}

// Phones need a service worker for them.
if (tellMe && "Notification" in window && !matchMedia("(pointer: coarse)").matches) {
  tellMe.parentElement.hidden = false;
  showWish();
  tellMe.addEventListener("click", async () => {
    if (isWished()) sessionStorage.removeItem(wish);
    else if ((await Notification.requestPermission()) === "granted") sessionStorage.setItem(wish, "");
    showWish();
  });
  document.addEventListener("htmx:oobAfterSwap", () => setTimeout(tellOfTheEnd));
}

function tellOfTheEnd() {
  if (!page.querySelector("[data-ended]")) return;
  tellMe.parentElement.hidden = true;
  if (!isWished()) return;
  sessionStorage.removeItem(wish);
  const told = new Notification(document.title, {
    body: page.querySelector(".state").textContent,
    tag: page.id,
  });
  told.addEventListener("click", () => window.focus());
}

// a citation beside the text:

const panel = () => document.getElementById("citation-panel");
let opener = null;

document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target === panel() && event.detail.elt.closest(".cite")) {
    opener = event.detail.elt;
  }
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== panel()) return;
  const copy = panel().querySelector(".stored");
  const mark = copy?.querySelector("mark");
  if (mark) copy.scrollTop = mark.offsetTop - copy.clientHeight / 4;
  panel().focus({ preventScroll: true });
});

document.addEventListener("keydown", (event) => {
  const open = panel()?.firstElementChild;
  if (!open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  if (event.key === "Escape") close();
  if (event.key === "n") panel().querySelector("[rel=next]")?.click();
  if (event.key === "p") panel().querySelector("[rel=prev]")?.click();
});

document.addEventListener("click", (event) => {
  if (event.target.closest(".panel-close")) {
    event.preventDefault();
    close();
  }
});

// copy with citations:

if (navigator.clipboard) page.dataset.copies = "";

document.addEventListener("click", async ({ target }) => {
  const copy = target.closest("[data-copy]");
  if (!copy) return;
  const text = await (await fetch(copy.dataset.copy)).text();
  await navigator.clipboard.writeText(text);
  copy.lastElementChild.textContent = copy.dataset.done;
});

// a glance at a citation:

const glance = Object.assign(document.createElement("div"), { className: "glance", hidden: true });
document.body.append(glance);

const bold = (text) => Object.assign(document.createElement("b"), { textContent: text });

function showGlance(event) {
  const marker = event.target.closest?.(".cite a");
  if (!marker) return;
  marker.dataset.note ??= marker.title;
  marker.removeAttribute("title");
  const [title, ...rest] = marker.dataset.note.split("\n");
  glance.replaceChildren(bold(title), rest.join("\n"));
  glance.hidden = !marker.dataset.note;
  const at = marker.getBoundingClientRect();
  const left = Math.min(at.left, document.documentElement.clientWidth - glance.offsetWidth - 16);
  const below = at.bottom + glance.offsetHeight + 8 < window.innerHeight;
  glance.style.left = `${Math.max(16, left)}px`;
  glance.style.top = `${below ? at.bottom + 4 : at.top - glance.offsetHeight - 4}px`;
}

const hideGlance = () => (glance.hidden = true);
for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, showGlance);
for (const kind of ["mouseout", "focusout", "click"]) document.addEventListener(kind, hideGlance);
window.addEventListener("scroll", hideGlance, { passive: true });

function close() {
  panel().replaceChildren();
  if (!opener) return;
  const same = `.cite a[href="${opener.getAttribute("href")}"]`;
  (opener.isConnected ? opener : document.querySelector(same))?.focus({ preventScroll: true });
}
