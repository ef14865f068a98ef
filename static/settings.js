/* The long form of settings: find one, count what was changed, reset. It is complete without. */
"use strict";

(() => {
  const form = document.querySelector(".knob-form");
  const knobs = [...form.querySelectorAll(".knob")];
  const groups = [...form.querySelectorAll(".knobs")];
  const find = document.getElementById("find-setting");
  const none = document.getElementById("no-setting");
  const reset = document.getElementById("reset");
  const all = form.querySelector(".changed-all");
  const opened = new Set(groups.filter((group) => group.open));

  const fieldOf = (knob) => knob.querySelector("input, select, textarea");
  const valueOf = (field) => (field.type === "checkbox" ? (field.checked ? "on" : "off") : field.value.trim());

  function tell(place, count) {
    place.hidden = !count;
    place.textContent = place.dataset.text.replace("{n}", count);
  }

  function count() {
    for (const knob of knobs) knob.classList.toggle("is-changed", valueOf(fieldOf(knob)) !== knob.dataset.default);
    for (const group of groups) tell(group.querySelector(".changed"), group.querySelectorAll(".is-changed").length);
    const changed = form.querySelectorAll(".is-changed").length;
    tell(all, changed);
    reset.hidden = !changed;
  }

  function narrow() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const group of groups) {
      const title = group.querySelector("summary").textContent;
      for (const knob of group.querySelectorAll(".knob")) {
        const text = `${title} ${knob.textContent}`.toLowerCase();
        knob.hidden = !words.every((word) => text.includes(word));
      }
      const found = group.querySelector(".knob:not([hidden])") !== null;
      group.hidden = !found;
      group.open = words.length ? found : opened.has(group);
    }
    none.hidden = groups.some((group) => !group.hidden);
  }

  find.addEventListener("input", narrow);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // it would start the research
  });
  form.addEventListener("input", count);
  reset.addEventListener("click", () => {
    for (const knob of knobs) {
      const field = fieldOf(knob);
      if (field.type === "checkbox") field.checked = knob.dataset.default === "on";
      else field.value = knob.dataset.default;
    }
    count();
  });
  count();
})();
