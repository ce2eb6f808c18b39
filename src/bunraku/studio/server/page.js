// The studio's own part of the page. HTML in viser's panels talks to the server by attributes, never by inline scripts:
//   data-click="name"  a click sends the event with all other data-* attributes
//   data-drag="name"   inside an <svg viewBox>: phase=start|move|end with x, y in the svg's units
//   data-audio="url" data-playing data-time data-speed data-stamp: one Audio element kept in step with the motion
// viser replaces this HTML whenever it changes, so everything is found by attribute and listened to on the document.
"use strict";
(() => {
  const base = location.origin + location.pathname;
  const state = { sent: 0, waiting: () => waiting.length + Number(flying), drift: null, worst: 0, samples: [], seeks: 0, blocked: false, audio: null };
  window.bunraku = state;

  // viser writes the address of its connection into the query; the server accepts no query, so that a link cannot send
  // the page to another server.
  const replaceState = history.replaceState.bind(history);
  history.replaceState = (data, title, url) => replaceState(data, title, location.pathname);
  if (location.search || location.hash) replaceState(null, "", location.pathname);

  // ---- news of what is gone: viser removes a component at once but updates at the end of a batch, and complains when a slow
  // page gets both together; an update of what the server has removed is dropped before viser sees it ----
  const gone = new Set();
  const withoutGone = (batch) => {
    for (const message of batch) if (message.type === "GuiRemoveMessage") gone.add(message.uuid);
    const left = batch.filter((message) => message.type !== "GuiUpdateMessage" || !gone.has(message.uuid));
    for (const uuid of gone) {
      if (gone.size <= 5000) break;
      gone.delete(uuid); // the oldest
    }
    return left;
  };
  let mutable;
  Object.defineProperty(window, "__viserMutable", {
    configurable: true,
    get: () => mutable,
    set: (value) => {
      mutable = value;
      const queue = value && value.messageQueue;
      if (queue && !Object.hasOwn(queue, "splice")) {
        queue.splice = (...range) => withoutGone(Array.prototype.splice.apply(queue, range));
      }
    },
  });

  // ---- events: in order, one request at a time; a move that waits is replaced by the next one ----
  const waiting = [];
  let flying = false;

  const fieldsOf = (element, without) => {
    const fields = {};
    for (const { name, value } of element.attributes) {
      if (name.startsWith("data-") && name !== without) fields[name.slice(5)] = value;
    }
    return fields;
  };

  const fly = async () => {
    if (flying) return;
    flying = true;
    while (waiting.length) {
      const { name, fields } = waiting.shift();
      try {
        await fetch(`${base}event/${name}?${new URLSearchParams(fields)}`, { cache: "no-store", credentials: "omit" });
        state.sent += 1;
      } catch {
        // the server is gone: viser's page says so and reconnects
      }
    }
    flying = false;
  };

  const send = (name, fields, drag = null) => {
    const last = waiting[waiting.length - 1];
    if (fields.phase === "move" && last && last.drag === drag && last.fields.phase === "move") waiting.pop();
    waiting.push({ name, fields, drag });
    fly();
  };

  // ---- clicks ----
  const clickable = (target) => (target instanceof Element ? target.closest("[data-click]") : null);
  const click = (element) => send(element.dataset.click, fieldsOf(element, "data-click"));

  document.addEventListener("click", (event) => {
    const element = clickable(event.target);
    if (element && !element.hasAttribute("data-drag")) click(element);
  }, true);

  document.addEventListener("keydown", (event) => {
    const element = clickable(event.target);
    if (!element || element !== event.target || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    click(element);
  }, true);

  // ---- drags ----
  let drag = null;

  // The svg of the drag, even when viser has put a new copy of it in place.
  const svgOf = () => {
    if (drag.svg.isConnected) return drag.svg;
    const again = [...document.querySelectorAll("[data-drag]")].find((other) => {
      const fields = fieldsOf(other, "data-drag");
      return other.dataset.drag === drag.name && drag.keys.every((key) => fields[key] === drag.fields[key]);
    });
    if (again && again.ownerSVGElement) drag.svg = again.ownerSVGElement;
    return drag.svg;
  };

  const place = (event) => {
    const svg = svgOf();
    const matrix = svg.isConnected ? svg.getScreenCTM() : null;
    if (matrix) drag.inverse = matrix.inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(drag.inverse);
    return { x: point.x.toFixed(4), y: point.y.toFixed(4) };
  };

  const step = (phase, event) => {
    if (event) drag.last = place(event);
    send(drag.name, { ...drag.fields, phase, ...drag.last }, drag.id);
  };

  const finish = (event) => {
    if (!drag || event.pointerId !== drag.pointer) return;
    const { element, moved } = drag;
    step("end", event.type === "pointerup" ? event : null);
    drag = null;
    if (!moved && event.type === "pointerup" && element.hasAttribute("data-click")) click(element);
  };

  let drags = 0;
  document.addEventListener("pointerdown", (event) => {
    const element = event.target instanceof Element ? event.target.closest("[data-drag]") : null;
    const svg = element && element.ownerSVGElement;
    if (!svg || event.button !== 0 || drag) return;
    const fields = fieldsOf(element, "data-drag");
    delete fields.click;
    drag = {
      id: ++drags, element, svg, fields, keys: Object.keys(fields), name: element.dataset.drag, pointer: event.pointerId,
      from: [event.clientX, event.clientY], moved: false, inverse: svg.getScreenCTM().inverse(), last: null,
    };
    event.preventDefault();
    event.stopPropagation();
    // the element may be replaced while it is dragged, the document is not
    document.documentElement.setPointerCapture(event.pointerId);
    step("start", event);
  }, true);

  document.addEventListener("pointermove", (event) => {
    if (!drag || event.pointerId !== drag.pointer) return;
    event.preventDefault();
    if (Math.hypot(event.clientX - drag.from[0], event.clientY - drag.from[1]) > 3) drag.moved = true;
    step("move", event);
  }, true);
  document.addEventListener("pointerup", finish, true);
  document.addEventListener("pointercancel", finish, true);

  // ---- shortcuts also work where a dropdown or a checkbox has the focus: nothing is typed there ----
  document.addEventListener("keydown", (event) => {
    const input = event.target;
    if (!event.isTrusted || !(input instanceof HTMLInputElement) || !(event.ctrlKey || event.metaKey)) return;
    const closed = input.getAttribute("aria-haspopup") === "listbox" && input.getAttribute("aria-expanded") !== "true";
    if (!closed && !input.readOnly && !["checkbox", "radio", "range"].includes(input.type)) return;
    if ("acvx".includes(event.key.toLowerCase())) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const { key, code, ctrlKey, metaKey, shiftKey, altKey } = event;
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code, ctrlKey, metaKey, shiftKey, altKey, bubbles: true, cancelable: true }));
  }, true);

  // ---- viser's sliders do not tell when they are let go ----
  let sliding = null;
  document.addEventListener("pointerdown", (event) => {
    if (sliding !== null || !(event.target instanceof Element) || !event.target.closest(".mantine-Slider-root")) return;
    sliding = event.pointerId;
    send("slider.hold", {});
  }, true);
  const letGo = (event) => {
    if (event.pointerId !== sliding) return;
    sliding = null;
    send("slider.let", {});
  };
  document.addEventListener("pointerup", letGo, true);
  document.addEventListener("pointercancel", letGo, true);

  // ---- files too large to send ----
  const toast = (text) => {
    const old = document.getElementById("bunraku-toast");
    if (old) old.remove();
    const box = document.createElement("div");
    box.id = "bunraku-toast";
    box.setAttribute("role", "alert");
    box.textContent = text;
    document.body.append(box);
    setTimeout(() => box.remove(), 8000);
  };

  document.addEventListener("change", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || input.type !== "file") return;
    const limit = Number(document.querySelector('meta[name="bunraku-upload-limit"]').content);
    const large = [...input.files].find((file) => file.size > limit);
    if (!large) return;
    event.stopImmediatePropagation();
    input.value = "";
    const megabytes = (bytes) => (bytes / 2 ** 20).toFixed(1);
    toast(`${large.name} has ${megabytes(large.size)} MB; the studio takes files up to ${megabytes(limit)} MB.`);
    send("upload.refused", { name: large.name.slice(-80), size: String(large.size) });
  }, true);

  // ---- playheads: an element with data-clock says how the time goes, data-playhead="x0 x1 t0 t1 wrap" moves along ----
  let clock = null; // {stamp, playing, time, speed, start, end, looped, since}

  const timeNow = () => {
    if (!clock.playing) return clock.time;
    const now = clock.time + ((performance.now() - clock.since) / 1000) * clock.speed;
    if (now < clock.end) return now;
    if (!clock.looped || clock.end <= clock.start) return clock.end;
    return clock.start + ((now - clock.start) % (clock.end - clock.start));
  };

  const moveHeads = () => {
    if (!clock) return;
    const now = timeNow();
    state.time = now;
    for (const head of document.querySelectorAll("[data-playhead]")) {
      const [x0, x1, t0, t1, wrap] = head.dataset.playhead.split(" ").map(Number);
      const share = wrap ? (((now - t0) / (t1 - t0)) % 1 + 1) % 1 : (now - t0) / (t1 - t0);
      head.setAttribute("visibility", share < -1e-6 || share > 1 + 1e-6 ? "hidden" : "visible");
      head.setAttribute("transform", `translate(${(x0 + share * (x1 - x0)).toFixed(2)} 0)`);
    }
    for (const plot of document.querySelectorAll(".uplot")) {
      // plots over time, known by the name of their axis, cannot be zoomed: their width is all of the motion
      const label = plot.querySelector(".u-legend .u-label");
      const over = plot.querySelector(".u-over");
      if (!over || !label || !label.textContent.startsWith("t [s]")) continue;
      let line = over.querySelector(".bunraku-head");
      if (!line) {
        line = document.createElement("div");
        line.className = "bunraku-head";
        over.append(line);
      }
      line.style.left = `${(100 * Math.min(1, Math.max(0, now / (clock.duration || 1)))).toFixed(3)}%`;
    }
    for (const text of document.querySelectorAll("[data-clocktext]")) {
      const said = `${now.toFixed(2)} s`;
      if (text.textContent !== said) text.textContent = said;
    }
  };

  const readClock = () => {
    const element = document.querySelector("[data-clock]");
    if (!element) {
      clock = null;
      return;
    }
    const data = element.dataset;
    if (!clock || clock.stamp !== data.clock) {
      clock = { stamp: data.clock, since: performance.now(), playing: data.playing === "1", looped: data.looped === "1" };
      for (const key of ["time", "speed", "start", "end", "duration"]) clock[key] = Number(data[key]);
    }
    moveHeads();
  };

  const animate = () => {
    if (clock && clock.playing && !document.hidden) moveHeads();
    requestAnimationFrame(animate);
  };
  requestAnimationFrame(animate);
  new MutationObserver((changes) => {
    if (changes.some((one) => one.type === "childList")) readClock();
  }).observe(document.documentElement, { subtree: true, childList: true });

  // ---- sound in step with the motion ----
  const audio = new Audio();
  audio.preload = "auto";
  state.audio = audio;
  let wanted = null; // {url, playing, time, speed, stamp, since}: what the server last asked for
  let lead = 0; // [s] how far ahead to seek, learned from how late the last seek came out
  let sought = false; // a seek whose result was not yet looked at
  let reported = 0;

  const expected = () => wanted.time + ((performance.now() - wanted.since) / 1000) * wanted.speed;
  const number = (text, otherwise) => (Number.isFinite(parseFloat(text)) ? parseFloat(text) : otherwise);

  const begin = () => {
    const now = expected();
    if (now < 0 || now >= (audio.duration || Infinity)) {
      audio.pause();
      return;
    }
    const error = now - audio.currentTime;
    if (audio.paused || Math.abs(error) > 0.08) {
      audio.currentTime = now + lead * wanted.speed;
      state.seeks += 1;
      sought = true;
    }
    audio.playbackRate = wanted.speed;
    audio.play().then(() => { state.blocked = false; }, (reason) => {
      if (reason.name !== "NotAllowedError" || state.blocked) return;
      state.blocked = true;
      send("audio.blocked", {});
    });
  };

  const read = () => {
    const element = document.querySelector("[data-audio]");
    if (!element || !element.dataset.audio) {
      if (wanted) audio.pause();
      wanted = null;
      return;
    }
    const { audio: url, playing, time, speed, stamp } = element.dataset;
    if (wanted && wanted.stamp === stamp && wanted.url === url) return;
    if (!wanted || wanted.url !== url) audio.src = new URL(url, base).href;
    wanted = { url, stamp, time: number(time, 0), speed: number(speed, 1), since: performance.now() };
    wanted.playing = playing === "1" && wanted.speed > 0;
    Object.assign(state, { drift: null, worst: 0, samples: [] });
    reported = performance.now();
    if (wanted.playing) {
      begin();
    } else {
      audio.pause();
      audio.currentTime = Math.max(0, wanted.time);
    }
  };

  // Twice a second: a small error is taken out by playing up to 2 % faster or slower, a large one by a seek.
  const keep = () => {
    if (!wanted || !wanted.playing || state.blocked) return;
    if (audio.paused) {
      begin();
      return;
    }
    if (audio.seeking || audio.readyState < 3) return;
    const error = expected() - audio.currentTime;
    state.drift = -1000 * error;
    state.samples.push(state.drift);
    if (state.samples.length > 1000) state.samples.shift();
    if (sought) {
      lead = Math.min(0.3, Math.max(0, lead + error / wanted.speed));
      sought = false;
    } else {
      state.worst = Math.max(state.worst, Math.abs(state.drift));
    }
    const nudge = Math.abs(error) < 0.004 ? 0 : Math.min(0.02, Math.max(-0.02, error / 2));
    if (Math.abs(error) > 0.08) begin();
    else audio.playbackRate = wanted.speed * (1 + nudge);
    if (performance.now() - reported >= 2000) {
      reported = performance.now();
      send("audio.drift", { ms: state.drift.toFixed(1), time: audio.currentTime.toFixed(3) });
    }
  };

  const retry = () => {
    if (!state.blocked) return;
    state.blocked = false;
    if (wanted && wanted.playing) begin();
  };
  document.addEventListener("pointerdown", retry, true);
  document.addEventListener("click", retry, true);
  document.addEventListener("keydown", retry, true);

  // how late a seek came out is seen soon after it
  audio.addEventListener("playing", () => setTimeout(keep, 60));

  new MutationObserver(read).observe(document.documentElement, {
    subtree: true, childList: true, attributes: true, attributeFilter: ["data-audio", "data-playing", "data-time", "data-speed", "data-stamp"],
  });
  setInterval(keep, 500);
})();
