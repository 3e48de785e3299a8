
"use strict";
(() => {
  const all = (selector, inside = document) => Array.from(inside.querySelectorAll(selector));
  const form = document.querySelector(".filters");
  const result = form.querySelector("output");
  const items = all(".moments > li").map((li) => ({ li, entry: li.firstElementChild, text: null, paths: null }));
  const days = all(".day");
  form.hidden = false;

  const textOf = (item) => (item.text ??= item.li.textContent.toLowerCase());
  const pathsOf = (item) => (item.paths ??= all(".path", item.li).map((p) => p.textContent.toLowerCase()));

  const filter = () => {
    const words = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const agent = form.elements.agent.value;
    const person = form.elements.person.value;
    const file = form.elements.file.value.trim().toLowerCase();
    const isFiltered = words.length > 0 || agent !== "" || person !== "" || file !== "";
    let shown = 0;
    for (const item of items) {
      const data = item.entry.dataset;
      const fits = (agent === "" || data.agent === agent) &&
        (person === "" || (data.person ?? "").split(" ").includes(person)) &&
        (file === "" || pathsOf(item).some((p) => p.includes(file))) &&
        words.every((w) => textOf(item).includes(w));
      item.li.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const day of days) day.hidden = !day.querySelector(".moments > li:not([hidden])");
    result.textContent = isFiltered ? `${shown} of ${items.length} entries` : "";
  };

  let timer = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(filter, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  const clear = () => {
    form.reset();
    filter();
  };

  const theme = () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  };
  // The filters must not cover what has the focus.
  new ResizeObserver(() => {
    const covered = getComputedStyle(form).position === "sticky" ? form.offsetHeight : 0;
    document.documentElement.style.scrollPaddingTop = `${covered + 8}px`;
  }).observe(form);

  const keys = form.querySelector("[data-do=keys]");
  const openAll = (open) => {
    for (const item of items) if (!item.li.hidden && "open" in item.entry) item.entry.open = open;
  };
  form.addEventListener("click", (event) => {
    const what = event.target.dataset?.do;
    if (what === "theme") theme();
    if (what === "keys") keys.ariaPressed = String(keys.ariaPressed !== "true");
    if (what === "open" || what === "close") openAll(what === "open");
  });

  const follow = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    const li = target.closest(".moments > li");
    if (li?.hidden) clear();
    for (let at = target; at; at = at.parentElement) if (at.localName === "details") at.open = true;
    target.scrollIntoView();
    (target.localName === "details" ? target.firstElementChild : target).focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);
  follow();

  const step = (by) => {
    const visible = items.filter((item) => !item.li.hidden && item.entry.localName === "details");
    const now = visible.findIndex((item) => item.li.contains(document.activeElement));
    let next = now + by;
    if (now < 0) next = visible.findIndex((item) => item.li.getBoundingClientRect().bottom > 0);
    visible[Math.max(0, Math.min(next, visible.length - 1))]?.entry.firstElementChild.focus();
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = /^(input|select|textarea)$/.test(event.target.localName);
    if (event.key === "Escape" && event.target.localName === "input") {
      clear();
      event.target.blur();
      return;
    }
    if (isTyping || keys.ariaPressed !== "true") return;
    const entry = document.activeElement?.closest?.("details.entry");
    const act = {
      "/": () => form.elements.q.focus(),
      j: () => step(1),
      k: () => step(-1),
      o: () => { if (entry) entry.open = !entry.open; },
      t: theme,
      Escape: clear,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
})();
