// Bundles the entry points into dist/. A program may be running from dist/ meanwhile, so nothing is ever missing
// there: new chunks come first, then the entries by rename; chunks no longer in use stay for an hour.
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { bundlePage } from "./bundle-page.ts";
import { typesFile } from "./roll-up-types.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const keepOldChunksMs = 60 * 60 * 1000;

const entries = ["main", "demo-agent", "sandbox-bridge", "index"].filter((name) =>
  existsSync(join(root, "src", `${name}.ts`)),
);
if (entries.length === 0) {
  console.log("build: no entry point in src/ yet");
} else {
  await build();
}

async function build(): Promise<void> {
  const started = performance.now();
  const temporary = mkdtempSync(join(root, ".dist-"));
  try {
    await Promise.all([bundle(temporary), bundlePage(join(temporary, "web"))]);
    writeFileSync(join(temporary, "index.d.ts"), typesFile());
    publish(temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  console.log(`build: ${entries.join(", ")} in ${Math.round(performance.now() - started)} ms`);
}

async function bundle(folder: string): Promise<void> {
  const bundled = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((name) => [name, join("src", `${name}.ts`)])),
    platform: "node",
    // Ink asks for the developer tools only when somebody debugs it, and they are not installed.
    external: ["better-sqlite3", "react-devtools-core"],
    // Our own modules only define things: who imports one of them loads no more than what it uses.
    treeshake: { moduleSideEffects: (id) => !id.startsWith(join(root, "src")) },
    // React in its quick form.
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    logLevel: "warn",
  });
  await bundled.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
  });
  await bundled.close();
}

function publish(folder: string): void {
  for (const name of ["chunks", "web"]) mkdirSync(join(dist, name), { recursive: true });
  const chunks = globSync("chunks/*.js", { cwd: folder });
  for (const file of [...chunks, ...globSync("*.{js,d.ts}", { cwd: folder })]) {
    renameSync(join(folder, file), join(dist, file));
  }
  for (const file of ["app.js", "app.css", "index.html"]) {
    renameSync(join(folder, "web", file), join(dist, "web", file));
  }
  const current = new Set(chunks.map((file) => basename(file)));
  for (const file of globSync("chunks/*.js", { cwd: dist })) {
    const path = join(dist, file);
    const isOld = Date.now() - statSync(path).mtimeMs > keepOldChunksMs;
    if (isOld && !current.has(basename(file))) rmSync(path, { force: true });
  }
}
