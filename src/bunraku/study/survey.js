"use strict";
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const main = document.getElementById("main");
  const bar = document.getElementById("progress");
  const place = document.getElementById("place");
  const status = document.getElementById("status");
  const KEY = `bunraku-study/${study.key}`;

  // ---- what is kept: in the browser, so that a reload loses nothing -------------------------------------------------------------
  const memory = {};
  const store = {
    get(name) {
      try { return window.localStorage.getItem(`${KEY}/${name}`) ?? memory[name] ?? null; } catch { return memory[name] ?? null; }
    },
    set(name, value) {
      memory[name] = value;
      try { window.localStorage.setItem(`${KEY}/${name}`, value); } catch { storeFails = true; }
    },
    drop(name) {
      delete memory[name];
      try { window.localStorage.removeItem(`${KEY}/${name}`); } catch { storeFails = true; }
    },
  };
  let storeFails = false;
  let state = null;
  let since = null;

  function fresh(participant) {
    return { participant, step: 0, answers: {}, watched: {}, seconds: {}, about: {}, agreed: false, saved: false };
  }
  function load(participant) {
    let found = null;
    try { found = JSON.parse(store.get(`p${participant}`)); } catch { found = null; }
    const sound = found && found.participant === participant && Number.isInteger(found.step) && found.answers && found.watched;
    return sound ? found : fresh(participant);
  }
  function keep() {
    if (!state || !state.participant) return;
    tick();
    store.set(`p${state.participant}`, JSON.stringify(state));
    store.set("current", String(state.participant));
  }
  function tick() {
    const now = performance.now(), trial = state && steps()[state.step];
    if (since !== null && trial && trial.name) state.seconds[trial.name] = (state.seconds[trial.name] || 0) + (now - since) / 1000;
    since = document.visibilityState === "hidden" ? null : now;
  }

  // ---- the order of things --------------------------------------------------------------------------------------------------------
  function steps() {
    const sitting = state && state.participant ? study.sittings[state.participant - 1] : { pairs: [], films: [] };
    const pairs = sitting.pairs.map((films, k) => ({ kind: "pair", place: k + 1, films, name: `pair/${k + 1}` }));
    const ratings = sitting.films.map((film, k) => ({ kind: "rating", place: k + 1, films: [film], name: `rating/${k + 1}` }));
    const lead = (part, trials, title, text) => (trials.length ? [{ kind: "lead", part, title, text }] : []);
    const parts = (pairs.length > 0) + (ratings.length > 0);
    const first = parts > 1 ? "Part 1 of 2: pairs" : "Pairs";
    const second = parts > 1 ? "Part 2 of 2: one at a time" : "One at a time";
    return [
      { kind: "welcome" },
      ...lead("pair", pairs, first, `You will see ${pairs.length} ${pairs.length === 1 ? "pair" : "pairs"} of videos. Both videos of a pair have the same voice. ` +
        "Watch one, then the other, as often as you like, and answer by comparing them."),
      ...pairs,
      ...lead("rating", ratings, second, `You will see ${ratings.length} videos, one at a time. Watch each to its end and say how the movement of the robot seems to you. ` +
        "There is no right or wrong answer; the first impression counts."),
      ...ratings,
      { kind: "end" },
    ];
  }
  const asked = { pair: study.pairs, rating: study.ratings };

  // ---- making elements --------------------------------------------------------------------------------------------------------------
  function el(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value === true) made.setAttribute(name, "");
      else if (value !== false && value !== null) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }
  function show(title, ...children) {
    const head = el("h1", { tabindex: "-1" }, title);
    main.replaceChildren(el("section", { class: "card" }, head, ...children));
    const all = steps();
    bar.max = all.length - 1;
    bar.value = state ? state.step : 0;
    const trials = all.filter((one) => one.name), at = state ? all.slice(0, state.step + 1).filter((one) => one.name).length : 0;
    place.textContent = state && state.step > 0 && state.step < all.length - 1 ? `${at} of ${trials.length}` : "";
    window.scrollTo(0, 0);
    head.focus({ preventScroll: true });
  }
  function narrow() { main.firstElementChild.classList.add("narrow"); }
  function say(text) { status.textContent = ""; window.setTimeout(() => { status.textContent = text; }, 30); }
  function go() {
    keep();
    state.step += 1;
    since = performance.now();
    keep();
    draw();
  }

  // ---- films ------------------------------------------------------------------------------------------------------------------------
  const urls = {};
  function source(code) {
    if (urls[code]) return urls[code];
    const held = document.getElementById(code);
    if (!held) return (urls[code] = `films/${code}.mp4`);
    const text = window.atob(held.textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
    return (urls[code] = URL.createObjectURL(new Blob([bytes], { type: "video/mp4" })));
  }
  function wholly(video) {
    let played = 0;
    for (let k = 0; k < video.played.length; k += 1) played += video.played.end(k) - video.played.start(k);
    return Number.isFinite(video.duration) && played >= 0.9 * video.duration - 0.1;
  }
  function film(trial, code, label, key, changed) {
    const name = `${trial.name}/${code}`;
    const video = el("video", { playsinline: true, preload: "auto", src: source(code), disablepictureinpicture: true,
      disableremoteplayback: true, width: study.film.width, height: study.film.height, "aria-label": label });
    const inner = el("i"), seen = el("span", { class: "seen" });
    const button = el("button", { type: "button" });
    const words = () => {
      const going = !video.paused && !video.ended;
      button.textContent = going ? `❚❚ Pause ${label}` : `▶ Play ${label}${state.watched[name] ? " again" : ""}`;
      seen.textContent = state.watched[name] ? "✓ watched" : "";
    };
    const toggle = () => {
      if (!video.paused && !video.ended) { video.pause(); return; }
      for (const other of main.querySelectorAll("video")) if (other !== video) other.pause();
      video.play().catch(() => say("The video could not be played; press the button again."));
    };
    button.addEventListener("click", toggle);
    video.addEventListener("click", toggle);
    video.addEventListener("timeupdate", () => { inner.style.width = `${(100 * video.currentTime) / (video.duration || 1)}%`; });
    video.addEventListener("ratechange", () => { if (video.playbackRate !== 1) video.playbackRate = 1; });
    video.addEventListener("play", words);
    video.addEventListener("pause", words);
    video.addEventListener("error", () => { seen.textContent = "This video cannot be played here; please tell whoever sent you the survey."; });
    video.addEventListener("ended", () => {
      if (wholly(video)) {
        state.watched[name] = true;
        say(`${label[0].toUpperCase()}${label.slice(1)} was watched.`);
        keep();
        changed();
      } else say(`Please watch ${label} from beginning to end.`);
      words();
    });
    words();
    const figure = el("figure", { class: "film", "data-film": code }, video, el("div", { class: "bar", "aria-hidden": "true" }, inner),
      el("div", { class: "row" }, button, seen));
    return { figure, toggle, key };
  }

  // ---- questions --------------------------------------------------------------------------------------------------------------------
  function radio(kind, group, value, text, checked, changed, described) {
    const box = el("input", { type: "radio", name: group, value, checked, "aria-label": described || null, onchange: () => changed(value) });
    return el("label", { class: kind }, box, el("span", {}, text));
  }
  function question(trial, one, changed) {
    const name = `${trial.name}/${one.name}`, answer = state.answers[name];
    const take = (value) => { state.answers[name] = value; keep(); changed(); };
    if (trial.kind === "pair") {
      const options = [["left", "Video A"], ["equal", one.equal], ["right", "Video B"]];
      return el("fieldset", { "data-question": one.name }, el("legend", {}, one.text),
        el("div", { class: "choices" }, ...options.map(([value, text]) => radio("choice", name, value, text, answer === value, take))));
    }
    const points = Array.from({ length: study.points }, (_, k) => String(k + 1));
    const described = (value) => `${value} of ${study.points}` +
      (value === "1" ? `, ${one.low}` : value === String(study.points) ? `, ${one.high}` : "");
    return el("fieldset", { "data-question": one.name }, el("legend", {}, `The movement of the robot: ${one.low} or ${one.high}?`),
      el("div", { class: "scale" }, el("span", { class: "low", "aria-hidden": "true" }, one.low),
        el("div", { class: "points" }, ...points.map((value) => radio("point", name, value, value, answer === value, take, described(value)))),
        el("span", { class: "high", "aria-hidden": "true" }, one.high)));
  }

  // ---- screens ----------------------------------------------------------------------------------------------------------------------
  let shortcuts = {};
  function trial(one) {
    const two = one.kind === "pair";
    const labels = two ? ["video A", "video B"] : ["the video"];
    const keys = two ? ["a", "b"] : ["p"];
    const hint = el("p", { class: "soft" });
    const warn = el("p", { class: "say", role: "alert" });
    const questions = asked[one.kind].map((each) => question(one, each, () => { warn.textContent = ""; }));
    const watched = () => one.films.every((code) => state.watched[`${one.name}/${code}`]);
    const update = () => {
      for (const field of questions) field.disabled = !watched();
      hint.textContent = watched() ? "You may play again before you answer." : two ? "Watch both videos to the end; then answer." : "Watch the video to its end; then answer.";
    };
    const films = one.films.map((code, k) => film(one, code, labels[k], keys[k], update));
    shortcuts = Object.fromEntries(films.map((each) => [each.key, each.toggle]));
    const form = el("form", { novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      if (!watched()) {
        warn.textContent = two ? "Please watch both videos to the end first." : "Please watch the video to its end first.";
        const open = films[one.films.findIndex((code) => !state.watched[`${one.name}/${code}`])];
        open.figure.querySelector("button").focus();
        return;
      }
      const open = questions[asked[one.kind].findIndex((each) => !state.answers[`${one.name}/${each.name}`])];
      if (open) {
        warn.textContent = "One answer is still missing.";
        open.querySelector("input").focus();
        return;
      }
      go();
    } }, ...questions, el("div", { class: "foot" }, warn, el("button", { class: "main", type: "submit" }, "Next")));
    const tip = el("p", { class: "soft keys" }, "Keys: ", ...(two ? [el("kbd", {}, "A"), " and ", el("kbd", {}, "B"), " play the videos, "] : [el("kbd", {}, "P"), " plays the video, "]),
      el("kbd", {}, "Tab"), " and the arrows choose, ", el("kbd", {}, "Enter"), " goes on.");
    show(two ? `Pair ${one.place} of ${steps().filter((each) => each.kind === "pair").length}` :
      `Video ${one.place} of ${steps().filter((each) => each.kind === "rating").length}`,
      el("div", { class: two ? "films" : "films one" }, ...films.map((each) => each.figure)), hint, form, tip);
    update();
  }

  function welcome() {
    const number = el("input", { type: "number", min: "1", max: String(study.sittings.length), inputmode: "numeric", id: "number",
      value: state && state.participant ? String(state.participant) : null });
    const warn = el("p", { class: "say", role: "alert" });
    const agree = el("input", { type: "checkbox", id: "agree", checked: Boolean(state && state.agreed) });
    const heard = el("input", { type: "checkbox", id: "heard" });
    const about = study.about.map((one) => {
      const options = [el("option", { value: "" }, "I would rather not say"), ...one.choices.map((text) => el("option", { value: text }, text))];
      const field = one.choices.length ? el("select", { name: one.name }, ...options) : el("input", { type: "text", name: one.name, maxlength: "200", autocomplete: "off" });
      field.value = (state && state.about[one.name]) || "";
      return el("label", { class: "line" }, el("b", {}, one.text, " ", el("span", { class: "soft" }, "(if you like)")), field);
    });
    const form = el("form", { novalidate: true, onsubmit: (event) => {
      event.preventDefault();
      const text = number.value.trim(), value = Number(text);
      const wrong = (words, box) => { warn.textContent = words; box.focus(); };
      if (!/^\d+$/.test(text) || value < 1 || value > study.sittings.length) {
        return wrong(`Please enter your number, from 1 to ${study.sittings.length}.`, number);
      }
      if (!agree.checked) return wrong("Please say that you take part of your own will.", agree);
      if (!heard.checked) return wrong("Please check that you can hear the sound.", heard);
      if (!state || state.participant !== value) state = load(value);
      state.agreed = true;
      if (state.step === 0) {
        for (const field of form.querySelectorAll("select, input[type=text]")) state.about[field.name] = field.value.trim();
        go();
      } else {
        keep();
        draw();
      }
      if (window.location.hash && window.location.hash !== `#${value}`) window.location.hash = `#${value}`;
      return undefined;
    } },
    el("label", { class: "line" }, el("b", {}, "Your number"), number),
    ...about,
    el("h2", {}, "Sound"),
    el("p", {}, "The videos have sound. Please use headphones or loudspeakers, and try them."),
    el("p", {}, el("button", { type: "button", onclick: chime }, "♪ Play a test sound")),
    el("label", { class: "tick" }, heard, el("span", {}, "I can hear the test sound.")),
    el("label", { class: "tick" }, agree, el("span", {}, "I take part of my own will. I know that I may stop at any time, and that my answers are saved " +
      "on this device only, until I send them.")),
    el("div", { class: "foot" }, warn, el("button", { class: "main", type: "submit" }, "Begin")));
    show(study.title, study.introduction ? el("p", { class: "words" }, study.introduction) : null,
      storeFails ? el("p", { class: "say" }, "This browser keeps nothing: please finish without closing or reloading the page.") : null, form);
    narrow();
  }
  function chime() {
    const context = new (window.AudioContext || window.webkitAudioContext)();
    const gain = context.createGain();
    gain.connect(context.destination);
    [523.25, 659.25, 783.99].forEach((pitch, k) => {
      const tone = context.createOscillator();
      tone.frequency.value = pitch;
      tone.connect(gain);
      tone.start(context.currentTime + 0.22 * k);
      tone.stop(context.currentTime + 0.22 * k + 0.2);
    });
    gain.gain.value = 0.2;
    window.setTimeout(() => context.close(), 1200);
  }
  function lead(one) {
    show(one.title, el("p", { class: "words" }, one.text),
      el("div", { class: "foot" }, el("span"), el("button", { class: "main", type: "button", onclick: go }, "Continue")));
    narrow();
  }

  // ---- the end: a table -------------------------------------------------------------------------------------------------------------
  function cell(value) {
    let text = String(value);
    if (/^[=+\-@\t\r]/.test(text)) text = `'${text}`; // never a formula in somebody's spreadsheet
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }
  function table() {
    const rows = [study.columns];
    const add = (part, at, first, second, name, answer, seconds) =>
      rows.push([study.key, state.participant, part, at, first, second, name, answer, seconds]);
    for (const one of study.about) {
      const answer = (state.about[one.name] || "").replace(/\s+/g, " ");
      if (answer) add("about", 0, "", "", one.name, answer, 0);
    }
    for (const one of steps().filter((each) => each.name)) {
      for (const each of asked[one.kind]) {
        const answer = state.answers[`${one.name}/${each.name}`];
        if (answer) add(one.kind, one.place, one.films[0], one.films[1] || "", each.name, answer, (state.seconds[one.name] || 0).toFixed(1));
      }
    }
    return `${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
  }
  function end() {
    const text = table();
    const file = `answers-${study.key}-${String(state.participant).padStart(3, "0")}.csv`;
    const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    const done = el("p", { class: "soft", role: "status" });
    const link = el("a", { href: url, download: file, hidden: true, "aria-hidden": "true", tabindex: "-1" });
    const save = () => { link.click(); state.saved = true; keep(); done.textContent = `Saved as ${file}, among your downloads.`; };
    const next = () => {
      if (!state.saved) { done.textContent = "Please save the answers first."; return; }
      store.drop("current");
      if (window.location.hash) window.location.hash = "";
      else begin();
    };
    show("Thank you!", el("p", {}, "All questions are answered. Please save your answers as a file, and send it to whoever invited you."),
      el("p", {}, el("button", { class: "main", type: "button", onclick: save }, "Save the answers"), link), done,
      el("details", {}, el("summary", {}, "Nothing was saved? Copy the text instead"),
        el("p", {}, el("textarea", { readonly: true, "aria-label": "The answers as text", rows: "8" }, text))),
      el("div", { class: "foot" }, el("span"), el("button", { type: "button", onclick: next }, "Another participant")));
    narrow();
  }

  function draw() {
    shortcuts = {};
    const all = steps();
    if (state) state.step = Math.min(Math.max(0, state.step), all.length - 1);
    if (state && all[state.step].kind === "end") {
      const open = all.findIndex((each) => each.name && asked[each.kind].some((q) => !state.answers[`${each.name}/${q.name}`]));
      if (open >= 0) state.step = open;
    }
    const one = state ? all[state.step] : all[0];
    ({ welcome, lead: () => lead(one), pair: () => trial(one), rating: () => trial(one), end })[one.kind]();
  }

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches && event.target.matches("input[type=text], input[type=number], textarea, select");
    const act = shortcuts[event.key.toLowerCase()];
    if (!act || typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("visibilitychange", () => { if (state) keep(); });
  window.addEventListener("pagehide", keep);
  window.addEventListener("hashchange", begin);

  function begin() {
    const told = /^#(\d{1,6})$/.exec(window.location.hash);
    const number = told ? Number(told[1]) : Number(store.get("current"));
    const valid = Number.isInteger(number) && number >= 1 && number <= study.sittings.length;
    state = valid ? load(number) : null;
    since = performance.now();
    draw();
  }
  begin();
})();
