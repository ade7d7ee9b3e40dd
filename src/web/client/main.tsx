import { render } from "preact";
import { App } from "./app.tsx";
import { listenToEvents } from "./live.ts";
import { keepOverview } from "./overview-store.ts";
import { listenToLocation } from "./router.ts";
import { listenToKeys } from "./shortcuts.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
listenToLocation();
listenToKeys();
keepOverview();
listenToEvents();
const root = document.querySelector("#app");
if (root !== null) render(<App />, root);
