/* Copying the link to a shared report. */

const address = document.getElementById("share-address");
const copy = document.getElementById("share-copy");

if (copy && navigator.clipboard) copy.hidden = false;

address?.addEventListener("focus", () => address.select());
copy?.addEventListener("click", async () => {
  address.select();
  await navigator.clipboard.writeText(address.value);
  copy.lastElementChild.textContent = copy.dataset.done;
});
