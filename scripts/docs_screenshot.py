#!/usr/bin/env python3
"""Takes the pictures of JupyterLab in the documentation: ResNet-50, coloured by the latency of its layers.

Needs the built extension (``make lab`` builds it) and Chromium (``CHROMIUM`` is its path). The server has no
authentication, listens on this machine only and ends with this script.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs/images"
MODELS = {
    "basic_pitch.onnx": "examples/basic_pitch.onnx",
    "bert_tiny.onnx": "examples/bert_tiny.onnx",
    "resnet50.onnx": "tests/data/stripped/resnet50.stripped.onnx",
    "swift_f0.onnx": "examples/swift_f0.onnx",
}
"""Name in the file browser → model; the weights of ResNet-50 are not needed."""
SETTINGS = '{"device": "l40", "precision": "fp16", "overlay": "latency"}'
WIDTH, HEIGHT = 1440, 900
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        for name, model in MODELS.items():
            shutil.copyfile(ROOT / model, Path(folder, name))
        for theme, label in THEMES.items():
            shoot(Path(folder), theme, label)
    return 0


def shoot(folder: Path, theme: str, label: str) -> None:
    """One picture: a server with its own settings, a browser, the model."""
    with tempfile.TemporaryDirectory() as home:
        write_settings(Path(home), label)
        port = free_port()
        own = {"JUPYTERLAB_SETTINGS_DIR": home, "JUPYTERLAB_WORKSPACES_DIR": f"{home}/workspaces"}
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
            "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--LabApp.news_url=None",
            f"--ServerApp.root_dir={folder}",
        ]  # fmt: skip
        log = subprocess.DEVNULL if "QUIET" in os.environ else None
        server = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/api")
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
                    args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
                )
                capture(browser, f"http://127.0.0.1:{port}/lab/tree/resnet50.onnx", theme)
                browser.close()
        finally:
            server.terminate()
            server.wait(30)


def capture(browser: Browser, address: str, theme: str) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1)
    page.goto(address)
    page.get_by_text("ResNetStage").first.wait_for(timeout=120_000)
    page.wait_for_timeout(3000)
    page.screenshot(path=IMAGES / f"resnet50_{theme}.png")


def write_settings(home: Path, theme: str) -> None:
    """The settings of the pictures: theme, device, heatmap; no news."""
    for plugin, text in {
        "@jupyterlab/apputils-extension/themes": f'{{"theme": "{theme}"}}',
        "@jupyterlab/apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
        "onnx-autodoc/plugin": SETTINGS,
    }.items():
        file = home / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(address: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    sys.exit(f"{address} does not answer")


if __name__ == "__main__":
    sys.exit(main())
