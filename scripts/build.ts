// Bundles the entry points into dist/. A program may be running from dist/ meanwhile, so nothing is ever missing
// there: new chunks come first, then the entries by rename; chunks no longer in use stay for an hour, or with
// --clean, for a package, not at all.
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
import { rolldown, type CodeSplittingGroup, type OutputChunk, type Plugin } from "rolldown";
import { bundlePage } from "./bundle-page.ts";
import { licencesText } from "./licenced-packages.ts";
import { typesFile } from "./roll-up-types.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const keepOldChunksMs = process.argv.includes("--clean") ? 0 : 60 * 60 * 1000;

/**
 * What the parser of the command line imports for things that we never ask of it, and that costs each start some
 * milliseconds: to import `process` opens its standard streams, and to start programs takes the whole network.
 */
const STAND_INS: Readonly<Record<string, string>> = {
  "node:process": "export default globalThis.process;",
  "node:child_process":
    "export default { get spawn() { return process.getBuiltinModule('node:child_process').spawn; } };",
};
const lightCommander: Plugin = {
  name: "light-commander",
  resolveId: (id, importer = "") =>
    Object.hasOwn(STAND_INS, id) && importer.includes("node_modules/commander/") ? `\0light:${id}` : null,
  load: (id) => (id.startsWith("\0light:") ? (STAND_INS[id.slice("\0light:".length)] ?? null) : null),
};

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
    writeFileSync(join(temporary, "licences.txt"), licencesText());
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
    plugins: [lightCommander],
    // React in its quick form.
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
    // What is shared may stand in the file of an entry, beside its own exports.
    preserveEntrySignatures: "allow-extension",
    logLevel: "warn",
  });
  const output = {
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
  } as const;
  const { output: files } = await bundled.generate(output);
  const groups = fewFiles(files.filter((file) => file.type === "chunk"));
  await bundled.write({
    ...output,
    dir: folder,
    codeSplitting: { includeDependenciesRecursively: false, groups },
  });
  await bundled.close();
}

/**
 * To find and link a file takes longer than to read it. What every command loads becomes one file, and what those load that look
 * at the project another, but for what hooks load as well: they need no database.
 */
function fewFiles(chunks: readonly OutputChunk[]): CodeSplittingGroup[] {
  const loadedBy = (module: string): ReadonlySet<string> => {
    const first = chunks.find(({ facadeModuleId }) => facadeModuleId === join(root, "src", module));
    const loaded = new Set(first === undefined ? [] : [first]);
    for (const chunk of loaded)
      for (const name of chunk.imports) {
        const next = chunks.find(({ fileName }) => fileName === name);
        if (next !== undefined) loaded.add(next);
      }
    const ids = [...loaded].flatMap(({ moduleIds }) => moduleIds);
    return new Set(ids.filter((id) => id !== first?.facadeModuleId));
  };
  const start = loadedBy("main.ts");
  const hook = loadedBy("cli/commands/hook.ts");
  const look = loadedBy("cli/commands/status.ts");
  const help = loadedBy("cli/commands/help.ts");
  return [
    // The few small things that help shares with commands that look: it needs no more of those.
    { name: "start", test: (id) => start.has(id) || (help.has(id) && look.has(id)), priority: 2 },
    { name: "look", test: (id) => look.has(id) && !hook.has(id), priority: 1 },
  ];
}

function publish(folder: string): void {
  for (const name of ["chunks", "web"]) mkdirSync(join(dist, name), { recursive: true });
  const chunks = globSync("chunks/*.js", { cwd: folder });
  for (const file of [...chunks, ...globSync("*.{js,d.ts,txt}", { cwd: folder })]) {
    renameSync(join(folder, file), join(dist, file));
  }
  for (const file of ["app.js", "app.css", "index.html"]) {
    renameSync(join(folder, "web", file), join(dist, "web", file));
  }
  const current = new Set(chunks.map((file) => basename(file)));
  for (const file of globSync("chunks/*.js", { cwd: dist })) {
    const path = join(dist, file);
    const isOld = Date.now() - statSync(path).mtimeMs >= keepOldChunksMs;
    if (isOld && !current.has(basename(file))) rmSync(path, { force: true });
  }
}
