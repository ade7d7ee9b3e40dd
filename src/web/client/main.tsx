import { render } from "preact";
import { App } from "./app.tsx";
import { keepOverview, listenToEvents } from "./overview-store.ts";
import { ProjectsPage } from "./pages/projects.tsx";
import { sendWhenLeaving } from "./toasts.tsx";
import { listenToKeys, listenToLocation } from "./router.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
const root = document.querySelector("#app");
if (root !== null && "all" in document.documentElement.dataset) render(<ProjectsPage />, root);
else if (root !== null) {
  listenToLocation();
  listenToKeys();
  keepOverview();
  listenToEvents();
  sendWhenLeaving();
  render(<App />, root);
}
