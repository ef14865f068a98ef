/* Comforts of the question form; it is complete without them. */
"use strict";

(() => {
  const question = document.getElementById("id_question");
  const form = question.form;
  const files = form.elements.files;
  const before = document.getElementById("asked-before");

  // A question may be longer than is allowed while it is being written: nothing is cut.
  const tooLong = document.getElementById("question-length");

  function measure() {
    const { most, text } = tooLong.dataset;
    const length = [...question.value.trim()].length;
    const shown = (number) => Number(number).toLocaleString(document.documentElement.lang);
    tooLong.hidden = length <= most || Boolean(document.getElementById("question-problem"));
    tooLong.textContent = text.replace("{most}", shown(most)).replace("{n}", shown(length));
  }

  // What was missing is no longer named once there is something.
  function forgive() {
    if (!question.value.trim()) return;
    document.getElementById("question-problem")?.remove();
    question.removeAttribute("aria-invalid");
  }
  question.addEventListener("input", () => { forgive(); measure(); });
  measure();

  // A template takes what was typed in place of its first gap; the next gap is selected.
  for (const link of form.querySelectorAll("[data-template]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const typed = question.value.trim();
      question.value = link.dataset.template.replace("…", () => typed || "…");
      const gap = question.value.indexOf("…");
      question.focus();
      forgive();
      if (gap >= 0) question.setSelectionRange(gap, gap + 1);
    });
  }

  // --- files by drag and drop, or pasted ----------------------------------------------------

  function attach(more) {
    const all = new DataTransfer();
    for (const file of [...files.files, ...more]) all.items.add(file);
    files.files = all.files;
    files.closest("details").open = true;
    files.dispatchEvent(new Event("change"));
  }

  // README has no ending
  const ends = files.accept.split(",").filter(Boolean);
  const isOther = ({ name }) => ends.length && name.includes(".") && !ends.some((end) => name.toLowerCase().endsWith(end));

  files.addEventListener("change", () => {
    const others = document.getElementById("other-files");
    const names = [...files.files].filter(isOther).map(({ name }) => name);
    others.hidden = !names.length;
    others.textContent = others.dataset.text.replace("{names}", names.join(", "));
  });

  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");

  form.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    form.classList.add("dropping");
  });
  form.addEventListener("dragleave", (event) => {
    if (!form.contains(event.relatedTarget)) form.classList.remove("dropping");
  });
  form.addEventListener("drop", (event) => {
    form.classList.remove("dropping");
    if (!hasFiles(event)) return;
    event.preventDefault();
    attach(event.dataTransfer.files);
  });
  question.addEventListener("paste", (event) => {
    const { files: pasted, types } = event.clipboardData;
    if (!pasted.length || types.includes("text/plain")) return;
    event.preventDefault();
    attach(pasted);
  });

  // --- what was asked before, while typing --------------------------------------------------

  let waiting, asked;

  question.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(suggest, 250);
  });

  async function suggest() {
    asked?.abort();
    asked = new AbortController();
    const text = new URLSearchParams({ q: question.value });
    try {
      const answer = await fetch(`${before.dataset.url}?${text}`, { signal: asked.signal });
      if (answer.ok) before.innerHTML = await answer.text();
    } catch (error) {
      if (error.name !== "AbortError") before.replaceChildren();
    }
  }
})();
