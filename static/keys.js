/* Shortcuts; each is a link or a field as well. */
"use strict";

(() => {
  const help = document.getElementById("keys-help");

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
    if (event.key === "Escape" && !event.target.closest?.("dialog")) event.target.closest?.("input, textarea")?.blur();
    const isTyping = event.target.closest?.("input, textarea, select, dialog");
    if (isTyping || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = actions[event.key];
    if (act && act() !== false) event.preventDefault();
  });

  const opener = document.getElementById("keys-open");
  opener.hidden = matchMedia("(pointer: coarse)").matches;
  opener.addEventListener("click", () => help.showModal());

  const actions = {
    "/": search,
    "?": () => help.showModal(),
    n: () => open("ask"),
    j: () => move(1),
    k: () => move(-1),
    f: () => press("#ask-on textarea", "focus"),
    t: () => press(".run-tabs a:not([aria-current])"),
    e: () => press(".exports summary") !== false && press(".exports summary", "focus"),
  };

  // Ctrl+Enter
  function send(event) {
    const button = event.target.form?.querySelector(".primary");
    if (!button) return;
    event.preventDefault();
    event.target.form.requestSubmit(button);
  }

  function press(selector, how = "click") {
    const part = document.querySelector(selector);
    if (!part?.checkVisibility()) return false;
    part[how]();
  }

  const open = (name) => location.assign(help.dataset[name]);

  if (location.hash == "#search") search();

  function search() {
    const field = document.querySelector("[role=search] [type=search]");
    if (field) field.select();
    else open("search");
  }

  function move(step) {
    const lines = [...document.querySelectorAll(".run-question")];
    if (!lines.length) return false;
    const at = lines.indexOf(document.activeElement);
    (lines[at + step] ?? lines.at(at)).focus();
  }
})();
