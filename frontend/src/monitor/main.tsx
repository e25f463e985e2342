import { render } from "preact";
import "../styles/monitor.css";
import { Api } from "./api";
import { App } from "./App";
import { Clock } from "./clock";
import { browserSite, Router } from "./router";

const root = document.getElementById("app");
if (root !== null) {
  render(<App api={new Api()} clock={new Clock()} router={new Router(browserSite)} />, root);
}
