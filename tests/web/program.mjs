// Runs the real program in a directory of its own.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./browser.mjs";

const PROGRAM = process.env.SOCIETY;

export class Program {
  /** Starts an app, given as its text. */
  static async start(app, { isOpen = true } = {}) {
    const program = new Program();
    program.place = mkdtempSync(join(tmpdir(), "page-"));
    program.state = join(program.place, "state");
    program.app = join(program.place, "app.lua");
    program.isOpen = isOpen;
    program.port = "0";
    writeFileSync(program.app, app);
    await program.restart();
    return program;
  }

  /** Starts it again on the same port. */
  async restart() {
    const address = join(this.state, "http.url");
    rmSync(address, { force: true });
    const options = ["run", this.app, "--state", this.state, "--http", this.port, "--log", "none"];
    const start = () =>
      spawn(PROGRAM, this.isOpen ? [...options, "--http-open"] : options, { stdio: "ignore" });
    this.child = start();
    await eventually("the address", () => {
      // While nothing listens there, the system may lend the port to somebody for a moment.
      if (this.child.exitCode !== null) this.child = start();
      return existsSync(address) && readFileSync(address, "utf8").includes("\n");
    });
    this.url = readFileSync(address, "utf8").trim();
    this.port = new URL(this.url).port;
  }

  /** kill -9, and waits for the end. */
  kill() {
    const { child } = this;
    return new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve();
      child.on("exit", resolve);
      child.kill("SIGKILL");
    });
  }

  /** Calls a route as the owner of the society. */
  async fetch(path, options = {}) {
    const token = readFileSync(join(this.state, "http.token"), "utf8").trim();
    const headers = { Authorization: `Bearer ${token}`, ...options.headers };
    return fetch(this.url + path, { ...options, headers });
  }

  async get(path) {
    return (await this.fetch(`/api/v1${path}`)).json();
  }

  async post(path, body) {
    const options = { method: "POST", body: JSON.stringify(body) };
    options.headers = { "Content-Type": "application/json" };
    return (await this.fetch(`/api/v1${path}`, options)).json();
  }

  /** A link that signs a browser in. */
  login() {
    return execFileSync(PROGRAM, ["open", "--print", "--state", this.state], {
      encoding: "utf8",
    }).trim();
  }

  /** A token with those scopes. */
  token(scopes) {
    const name = scopes.replaceAll(",", "-");
    const options = ["token", "add", name, "--scope", scopes, "--state", this.state];
    return execFileSync(PROGRAM, options, { encoding: "utf8" }).trim().split(/\s+/).at(-1);
  }

  end() {
    this.child.kill("SIGKILL");
    rmSync(this.place, { recursive: true, force: true });
  }
}
