"""The voice of a page: sound inside an offline page, in step with its play bar."""

from __future__ import annotations

import base64

from bunraku.formats.wav import wav_bytes
from bunraku.motion import Audio

SCRIPT = """
(() => {
  const voice = document.getElementById("bunraku-voice"), button = document.getElementById("bunraku-sound");
  let wanted = false, before = null, still = 0;
  button.onclick = () => {
    wanted = !wanted;
    button.textContent = wanted ? "Turn sound off" : "Turn sound on";
    if (!wanted) voice.pause();
  };
  setInterval(() => {
    const bar = document.querySelector("[role=slider][aria-valuenow]");
    if (!bar || !wanted) return;
    const now = parseFloat(bar.getAttribute("aria-valuenow"));
    still = now === before ? still + 1 : 0;
    before = now;
    if (still > 4 || now >= voice.duration) { voice.pause(); return; }
    if (Math.abs(voice.currentTime - now) > 0.08) voice.currentTime = now;
    if (voice.paused) voice.play().catch(() => {});
  }, 30);
})();
"""
"""Reads the play bar's time thirty times a second: the voice goes to it when off by more than 80 ms, and rests when it rests."""

STYLE = (
    "position:fixed;top:10px;left:45%;z-index:10000;font:14px sans-serif;padding:6px 12px;border-radius:6px;border:1px solid #999"
)


def with_voice(page: str, audio: Audio) -> str:
    """The page with a button that turns its sound on (browsers start none by themselves); nothing is loaded from anywhere."""
    sound = base64.b64encode(wav_bytes(audio)).decode()
    more = (
        f'<audio id="bunraku-voice" preload="auto" src="data:audio/wav;base64,{sound}"></audio>'
        f'<button id="bunraku-sound" style="{STYLE}">Turn sound on</button><script>{SCRIPT}</script>'
    )
    place = page.rfind("</body>")
    return page + more if place < 0 else page[:place] + more + page[place:]
