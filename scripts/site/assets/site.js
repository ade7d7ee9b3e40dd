// What the pages can do besides being read: search, light and dark, the menu on small screens, copying code.
// A plain script: browsers refuse modules and fetch on pages that are opened as files.
(() => {
  const html = document.documentElement;
  const root = html.dataset.root ?? "";
  const one = (selector) => document.querySelector(selector);
  const SHOWN = 30;
  const AROUND = 60;

  function element(name, props = {}, ...children) {
    const made = Object.assign(document.createElement(name), props);
    made.append(...children);
    return made;
  }

  function setUpTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    one(".theme").addEventListener("click", () => {
      const isDark = html.dataset.theme ? html.dataset.theme === "dark" : dark.matches;
      html.dataset.theme = isDark ? "light" : "dark";
      try {
        localStorage.setItem("ralph-theme", html.dataset.theme);
      } catch {
        // A browser that keeps nothing for files forgets the choice with the page.
      }
    });
  }

  function setUpMenu() {
    const button = one(".menu");
    const show = (isOpen) => {
      html.classList.toggle("menu-open", isOpen);
      button.setAttribute("aria-expanded", String(isOpen));
    };
    button.addEventListener("click", () => show(!html.classList.contains("menu-open")));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !html.classList.contains("menu-open")) return;
      show(false);
      button.focus();
    });
    const here = one(".side [aria-current]");
    if (here !== null) one(".side").scrollTop = here.offsetTop - innerHeight / 3;
  }

  function setUpContents() {
    const details = one(".toc details");
    if (details === null) return;
    if (matchMedia("(max-width: 75rem)").matches) details.open = false;
    const links = new Map([...details.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
    const seen = new IntersectionObserver(
      (entries) => {
        const top = entries.find(({ isIntersecting }) => isIntersecting);
        if (top === undefined) return;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(top.target.id)?.setAttribute("aria-current", "true");
      },
      { rootMargin: "-10% 0px -75% 0px" },
    );
    for (const id of links.keys()) {
      const heading = document.getElementById(decodeURIComponent(id));
      if (heading !== null) seen.observe(heading);
    }
  }

  function setUpCopying() {
    for (const block of document.querySelectorAll(".code")) {
      const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
      button.addEventListener("click", async () => {
        const isCopied = await copy(typedIn(block.querySelector("code").textContent));
        button.textContent = isCopied ? "Copied" : "Select and copy";
        setTimeout(() => (button.textContent = "Copy"), 1_500);
      });
      block.append(button);
    }
  }

  /** Of a session in a terminal only what was typed. */
  function typedIn(text) {
    const typed = text.split("\n").filter((line) => line.startsWith("$ "));
    return typed.length === 0 ? text : typed.map((line) => line.slice(2)).join("\n");
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return copyTheOldWay(text);
    }
  }

  /** The clipboard of today is refused to pages that are opened as files in some browsers. */
  function copyTheOldWay(text) {
    const area = element("textarea", { value: text, className: "unseen" });
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }

  function setUpSearch() {
    const dialog = one("dialog.search");
    const input = dialog.querySelector("input");
    const open = () => {
      loadIndex(() => show(input.value));
      dialog.showModal();
      input.select();
    };
    one(".find").addEventListener("click", open);
    input.addEventListener("input", () => show(input.value));
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input, textarea, [contenteditable]") !== null;
      const isAsked =
        (event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey));
      if (!isAsked || dialog.open) return;
      event.preventDefault();
      open();
    });
    dialog.addEventListener("keydown", (event) => moveThrough(dialog, event));
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest(".results a") !== null) dialog.close();
    });
  }

  function moveThrough(dialog, event) {
    const stops = [dialog.querySelector("input"), ...dialog.querySelectorAll(".results a")];
    const at = stops.indexOf(document.activeElement);
    if (event.key === "Enter" && at === 0) stops[1]?.click();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || at === -1) return;
    event.preventDefault();
    stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
  }

  function loadIndex(then) {
    if (window.ralphIndex !== undefined) return then();
    const script = element("script", { src: `${root}search-index.js` });
    script.addEventListener("load", then);
    document.head.append(script);
  }

  function show(query) {
    const words = query.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? [];
    const found = words.length === 0 || window.ralphIndex === undefined ? [] : search(words);
    one(".search .count").textContent =
      words.length === 0 ? "" : found.length === 0 ? "Nothing found" : `${found.length} found`;
    one(".search .results").replaceChildren(...found.slice(0, SHOWN).map((hit) => resultItem(hit, words)));
  }

  /** Sections with as many of the words as any has, the best first. */
  function search(words) {
    const { pages, sections } = window.ralphIndex;
    const hits = sections.map(([page, id, heading, text]) => {
      const [url, title, group] = pages[page];
      return { url, title, group, id, heading, text, ...rate(words, { title, heading, text, group }) };
    });
    const most = Math.max(1, ...hits.map(({ has }) => has));
    return hits.filter(({ has }) => has === most).toSorted((a, b) => b.score - a.score);
  }

  function rate(words, { title, heading, text, group }) {
    const [inTitle, inHeading, inText] = [title, heading, text].map((part) => part.toLowerCase());
    const scores = words.map(
      (word) => 6 * matches(inHeading, word) + 3 * matches(inTitle, word) + 2 * matches(inText, word),
    );
    const phrase = words.join(" ");
    const together = words.length > 1 ? 15 * inHeading.includes(phrase) + 8 * inText.includes(phrase) : 0;
    const weight = group === "Decisions" || group === "Concepts" ? 0.6 : 1;
    return {
      has: scores.filter((score) => score > 0).length,
      score: weight * scores.reduce((sum, score) => sum + score, together),
    };
  }

  /** 0: not there; more for whole words and beginnings than for pieces, and for what is said often. */
  function matches(text, word) {
    if (!text.includes(word)) return 0;
    const begins = text.match(new RegExp(`(?<![\\p{L}\\p{N}])${escaped(word)}`, "gu"))?.length ?? 0;
    return begins === 0 ? 0.3 : 0.8 + Math.min(begins, 6) / 4;
  }

  function escaped(word) {
    return word.replaceAll(/[.-]/g, String.raw`\$&`);
  }

  function resultItem({ url, title, group, id, heading, text }, words) {
    const link = element("a", { href: `${root}${url}${id === "" ? "" : `#${id}`}` });
    link.append(element("strong", {}, ...marked(heading, words)));
    link.append(element("small", { textContent: heading === title ? group : `${title} · ${group}` }));
    link.append(element("span", {}, ...marked(excerpt(text, words), words)));
    return element("li", {}, link);
  }

  function excerpt(text, words) {
    const lower = text.toLowerCase();
    const at = Math.max(
      0,
      ...words
        .map((word) => lower.indexOf(word))
        .filter((place) => place >= 0)
        .slice(0, 1),
    );
    const from = Math.max(0, at - AROUND);
    return `${from > 0 ? "…" : ""}${text.slice(from, at + 2 * AROUND)}${at + 2 * AROUND < text.length ? "…" : ""}`;
  }

  function marked(text, words) {
    return text
      .split(new RegExp(`(${words.map(escaped).join("|")})`, "iu"))
      .map((part, at) => (at % 2 === 1 ? element("mark", { textContent: part }) : part));
  }

  html.classList.add("js");
  setUpTheme();
  setUpMenu();
  setUpContents();
  setUpCopying();
  setUpSearch();
})();
