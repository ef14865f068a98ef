/* Reading a report: citations, glances, copies. */

// a citation beside the text:

const on = document.addEventListener.bind(document);
const panel = () => document.getElementById("citation-panel");
let opener = null;
let kept; // place of a judged finding

on("htmx:beforeRequest", ({ detail: { target, elt } }) => {
  if (target !== panel()) return;
  if (elt.closest(".cite")) opener = elt;
  kept = elt.closest(".card")?.closest(".in-panel").scrollTop;
});

on("htmx:afterSwap", (event) => {
  if (event.detail.target !== panel()) return;
  const shown = panel().querySelector(".in-panel");
  if (kept) shown.scrollTop = kept;
  else showQuote(shown);
  panel().focus({ preventScroll: true });
});

// as little as shows the words that matter between what sticks
function showQuote(shown) {
  const edges = (part) => part?.getBoundingClientRect() ?? { top: innerHeight };
  const quotes = shown?.querySelectorAll(".stored mark");
  if (!quotes?.length) return;
  const above = edges(shown.querySelector(".citation-nav")).bottom + 8;
  const below = edges(shown.querySelector(".judge")).top - 8;
  const [first, last] = [edges(quotes[0]).top, edges([...quotes].at(-1)).bottom];
  shown.scrollTop += Math.max(0, Math.min(last - below, first - above));
}

on("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
  const open = panel()?.firstElementChild;
  if (ctrlKey || metaKey || altKey || target.closest("input, textarea, select")) return;
  const way = { j: "next", k: "prev" }[key];
  if (open && key === "Escape") close();
  else if (open && way) press(panel().querySelector(`[rel=${way}]`));
  else if (key === "j") press(document.querySelector(".cite a"));
});

// never leaves the page, even before htmx knows the link
function press(link) {
  if (!link) return;
  addEventListener("click", (event) => event.preventDefault(), { once: true });
  link.click();
}

on("click", (event) => {
  const way = event.target.closest(".panel-close, [href='#ask-on']");
  if (!way) return;
  event.preventDefault();
  if (way.matches(".panel-close")) close();
  else document.querySelector("#ask-on textarea").focus({ preventScroll: true });
});

// copy with citations:

if (navigator.clipboard) document.querySelector(".run").dataset.copies = "";

on("click", async ({ target }) => {
  const copy = target.closest("[data-copy]");
  if (!copy) return;
  const { copy: from, done } = copy.dataset;
  const text = from ? await (await fetch(from)).text() : copy.nextSibling.textContent;
  await navigator.clipboard.writeText(text);
  copy.lastElementChild.textContent = done;
});

// the menu ends above the foot of the window:

const menu = document.querySelector(".exports ul");
menu?.parentNode.addEventListener("toggle", () => {
  menu.style.maxHeight = `${Math.max(160, innerHeight - menu.getBoundingClientRect().top - 8)}px`;
});

// Enter sends a follow-up, where another key starts a new line:

on("keydown", (event) => {
  const { target, key, shiftKey, ctrlKey, metaKey, isComposing } = event;
  if (key !== "Enter" || shiftKey || ctrlKey || metaKey || isComposing) return;
  if (!target.matches("#ask-on textarea") || matchMedia("(pointer: coarse)").matches) return;
  event.preventDefault();
  if (target.value.trim()) target.form.requestSubmit();
});

// the section that is read and its pages:

addEventListener("scroll", tellSection, { passive: true });
on("htmx:oobAfterSwap", () => setTimeout(tellAnew));

// a report is shown once its message is whole
function tellAnew() {
  delete document.querySelector(".in-view")?.dataset.at;
  tellSection();
}

function tellSection() {
  const begun = (title) => title.getBoundingClientRect().top < innerHeight / 3;
  const titles = [...document.querySelectorAll(".report h2[id]")];
  const at = titles.findLastIndex(begun);
  for (const link of document.querySelectorAll(".contents > ol a")) {
    if (link.hash === `#${titles[at]?.id}`) link.ariaCurrent = "true";
    else link.removeAttribute("aria-current");
  }
  const beside = document.querySelector(".in-view");
  if (!beside || beside.dataset.at === `${at}`) return;
  beside.dataset.at = at;
  const cited = new Map();
  for (const cite of document.querySelectorAll(":is(.answer, .report) .cite a")) {
    const isIn = titles.findLastIndex((title) => title.compareDocumentPosition(cite) & 4) === at;
    if (isIn && noteOf(cite) && !cited.has(cite.text)) cited.set(cite.text, cite);
  }
  beside.hidden = !cited.size;
  beside.lastElementChild.replaceChildren(...[...cited.values()].map(line));
}

function line(cite) {
  const [title, facts] = noteOf(cite).split("\n");
  const [site, day] = facts.split(" · ");
  const link = part("a", "");
  link.href = cite.href;
  link.append(part("b", cite.text), part("span", title), part("small", `${site} · ${day}`));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    cite.click();
  });
  const item = part("li", "");
  item.append(link);
  return item;
}

// saving:

function closeMenu(event) {
  const menu = document.querySelector(".exports[open]");
  if (!menu || event.target.closest(".exports :is(summary, fieldset, [data-copy])")) return;
  if (event.type === "click" || event.key === "Escape") menu.open = false;
}
for (const kind of ["click", "keydown"]) on(kind, closeMenu);

// a glance at a citation:

const glance = Object.assign(document.createElement("div"), { className: "glance", hidden: true });
document.body.append(glance);

const noteOf = (cite) => cite.dataset.note ?? cite.title;
const part = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });

function showGlance(event) {
  const marker = event.target.closest?.(".cite a");
  if (!marker || (marker === opener && panel().firstElementChild)) return;
  marker.dataset.note = noteOf(marker);
  marker.removeAttribute("title");
  const [title, facts, ...quotes] = marker.dataset.note.split("\n");
  glance.replaceChildren(part("b", title), part("small", facts), quotes.join("\n"));
  glance.hidden = !marker.dataset.note;
  const at = marker.getBoundingClientRect();
  const left = Math.min(at.left, document.body.clientWidth - glance.offsetWidth - 16);
  const below = at.bottom + glance.offsetHeight + 8 < innerHeight;
  glance.style.left = `${Math.max(16, left)}px`;
  glance.style.top = `${below ? at.bottom + 4 : at.top - glance.offsetHeight - 4}px`;
}

const hideGlance = () => (glance.hidden = true);
for (const kind of ["mouseover", "focusin"]) on(kind, showGlance);
for (const kind of ["mouseout", "focusout", "click"]) on(kind, hideGlance);
addEventListener("scroll", hideGlance, { passive: true });

tellSection();

function close() {
  panel().replaceChildren();
  if (!opener) return;
  const same = `.cite a[href="${opener.getAttribute("href")}"]`;
  (opener.isConnected ? opener : document.querySelector(same))?.focus({ preventScroll: true });
}
