import { render } from "preact";
import "../styles/worker.css";
import { App } from "./App";

const root = document.getElementById("app");
if (root !== null) render(<App />, root);
