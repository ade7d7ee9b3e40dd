import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

/** A project of somebody else's that has ralph installed. */
function checkTypes(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-types-"));
  try {
    mkdirSync(join(folder, "node_modules", "@types"), { recursive: true });
    symlinkSync(ROOT, join(folder, "node_modules", "ralph"));
    symlinkSync(join(ROOT, "node_modules", "@types", "node"), join(folder, "node_modules", "@types", "node"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2024",
      types: ["node"],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    for (const [name, from] of Object.entries(files)) {
      if (from.includes("\n")) writeFileSync(join(folder, name), from);
      else cpSync(join(ROOT, from), join(folder, name));
    }
    return spawnSync(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", "."], {
      cwd: folder,
      encoding: "utf8",
    }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("the types that are published fit the examples", () => {
  const found = checkTypes({
    "guard.ts": "examples/plugins/guards/plugin.ts",
    "source.ts": "examples/plugins/sources/plugin.ts",
    "notifier.ts": "examples/plugins/notifiers/plugin.ts",
    "embed.ts": "examples/library/embed.ts",
  });
  expect(found).toBe("");
});

test("and what does not fit is an error", () => {
  const found = checkTypes({
    "wrong.ts": `import { definePlugin } from "ralph";
definePlugin({ apiVersion: 2, name: "x" });
definePlugin({ apiVersion: 1, name: "x", guards: { g: { check: () => "no" } } });
`,
  });
  expect(found).toContain("wrong.ts(2,16)");
  expect(found).toContain("wrong.ts(3,");
});
