/* Reading a report: glances, copies, the section that is read. */

const on = document.addEventListener.bind(document);
const panel = () => document.getElementById("citation-panel");

// copy with citations:

if (navigator.clipboard) document.querySelector(".run").dataset.copies = "";

on("click", async ({ target }) => {
  const copy = target.closest("[data-copy]");
  if (!copy) return;
  const { copy: from, html, done } = copy.dataset;
  const read = async (address) => (await fetch(address)).text();
  const typed = async (type, address) => new Blob([await read(address)], { type });
  if (html && window.ClipboardItem) {
    const kinds = { "text/plain": from, "text/html": html };
    for (const kind in kinds) kinds[kind] = typed(kind, kinds[kind]);
    await navigator.clipboard.write([new ClipboardItem(kinds)]); // at once: Safari wants the press
  } else {
    const text = from ? await read(from) : copy.nextSibling.textContent;
    await navigator.clipboard.writeText(text);
  }
  copy.lastElementChild.textContent = done;
});

// the menu ends above the foot of the window:

const menu = document.querySelector(".exports ul");
menu?.parentNode.addEventListener("toggle", () => {
  menu.style.maxHeight = `${Math.max(160, innerHeight - menu.getBoundingClientRect().top - 8)}px`;
});

// Enter sends a follow-up, where another key starts a new line:

on("click", (event) => {
  if (!event.target.closest("[href='#ask-on']")) return;
  event.preventDefault();
  document.querySelector("#ask-on textarea").focus({ preventScroll: true });
});

on("keydown", (event) => {
  const { target, key, shiftKey, ctrlKey, metaKey, isComposing } = event;
  if (key !== "Enter" || shiftKey || ctrlKey || metaKey || isComposing) return;
  if (!target.matches("#ask-on textarea") || matchMedia("(pointer: coarse)").matches) return;
  event.preventDefault();
  if (target.value.trim()) target.form.requestSubmit();
  else tellEmpty(target);
});

function tellEmpty(box) {
  box.setCustomValidity(box.dataset.empty);
  box.reportValidity();
  box.addEventListener("input", () => box.setCustomValidity(""), { once: true });
}

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
  const link = part("a", "");
  link.href = cite.href;
  link.append(part("b", cite.text), part("span", title), part("small", facts.split(" · ", 2).join(" · ")));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    cite.click();
  });
  const item = part("li", "");
  item.append(link);
  return item;
}

// what the address names opens, where it is folded:

function reveal() {
  const named = document.getElementById(location.hash.slice(1));
  const folds = [...document.querySelectorAll("details:not([open])")];
  const around = folds.filter((fold) => named && fold !== named && fold.contains(named));
  for (const fold of around) fold.open = true;
  if (around.length) named.scrollIntoView();
}
addEventListener("hashchange", reveal);
reveal();

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
  if (!marker || (marker.ariaCurrent && panel().firstElementChild)) return;
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
