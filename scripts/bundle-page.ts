// Bundles the page of `ralph web`: everything it needs, since it has to work without the internet.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const root = join(import.meta.dirname, "..");
const client = join(root, "src", "web", "client");
const styles = ["base", "layout", "board", "runs", "iteration", "charts"];

/** Writes index.html, app.js and app.css into the folder. */
export async function bundlePage(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const bundled = await rolldown({
    cwd: root,
    input: { app: join(client, "main.tsx") },
    platform: "browser",
    transform: { jsx: { runtime: "automatic", importSource: "preact" }, target: "es2022" },
    tsconfig: false,
    // The core only defines things: what the page does not use stays out.
    treeshake: { moduleSideEffects: (id) => !id.startsWith(join(root, "src", "core")) },
    logLevel: "warn",
  });
  await bundled.write({ dir: folder, format: "esm", entryFileNames: "[name].js", minify: true });
  await bundled.close();
  const css = styles.map((name) => readFileSync(join(client, "styles", `${name}.css`), "utf8")).join("\n");
  writeFileSync(join(folder, "app.css"), css.replaceAll(/\n\s+/g, "\n"));
  copyFileSync(join(client, "index.html"), join(folder, "index.html"));
}
