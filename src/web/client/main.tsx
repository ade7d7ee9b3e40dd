import { render } from "preact";
import { App } from "./app.tsx";
import { keepOverview, listenToEvents } from "./overview-store.ts";
import { listenToKeys, listenToLocation } from "./router.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
listenToLocation();
listenToKeys();
keepOverview();
listenToEvents();
const root = document.querySelector("#app");
if (root !== null) render(<App />, root);
