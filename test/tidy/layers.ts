// Who may import whom in src/: the table of ARCHITECTURE.md as code.

type Layer = {
  /** Whether the file at this path belongs to the layer. */
  readonly holds: RegExp;
  /** What its files may import besides each other. */
  readonly mayImport: readonly RegExp[];
  readonly packages: "none" | "node" | "all";
  /** Told to whoever breaks the rule. */
  readonly rule: string;
};

const core = /^src\/core\//;
const everything = /^/;

/** What commands use that set up, look at or put away a project, and run nothing: doctor, init, import, plan, archive. */
const tools = [
  /^src\/adapters\/agents\/(adapters|analyze-output|programs\/(accounts|program-belongings))\.ts$/,
  /^src\/adapters\/files\/(archive|intervention-files|ralph-folder)\.ts$/,
  /^src\/adapters\/fleet\/connection-settings\.ts$/,
  /^src\/adapters\/git\/(find-repository|git|stale-locks|workspace\/(verify-work|own-checkout))\.ts$/,
  /^src\/adapters\/notify\/desktop-channel\.ts$/,
  /^src\/adapters\/process\/(atomic-file|process-sweep|process-table|safe-path|supervise|system-clock)\.ts$/,
  /^src\/adapters\/store\/(project-lock|read-export)\.ts$/,
  /^src\/adapters\/tasks\/(add-task|gh|import-tasks|open-source|read-json|stories-format)\.ts$/,
];

const layers: readonly Layer[] = [
  {
    holds: core,
    mayImport: [],
    packages: "none",
    rule: "core imports core only; pass the rest in as data or move this out of core",
  },
  {
    holds: /^src\/engine\//,
    mayImport: [core],
    packages: "node",
    rule: "engine imports core, engine and Node only; add a port to engine/ports.ts and implement it in adapters",
  },
  {
    holds: /^src\/adapters\//,
    mayImport: [
      core,
      /^src\/engine\/(parallel-|fleet-)?ports\.ts$/,
      /^src\/adapters\/(process|git)\//,
      /^src\/adapters\/store\/stored-rows\.ts$/,
    ],
    packages: "all",
    rule: "an adapter imports core, the ports of the engine, adapters/process, adapters/git, store/stored-rows.ts and its own family only; go through a port",
  },
  {
    holds: /^src\/config\//,
    mayImport: [core],
    packages: "all",
    rule: "config imports core and packages only",
  },
  {
    holds: /^src\/web\/client\//,
    mayImport: [core, /^src\/web\/api\.ts$/],
    packages: "all",
    rule: "the page imports types of core, web/api.ts and packages for browsers only",
  },
  {
    holds: /^src\/(tui|web)\//,
    mayImport: [core, /^src\/app\/watch-project\.ts$/, /^src\/engine\/ports\.ts$/],
    packages: "all",
    rule: "screens import core, app/watch-project.ts and engine/ports.ts only; app gives them what they need as ports",
  },
  {
    holds: /^src\/eval\//,
    mayImport: [core, /^src\/engine\//],
    packages: "node",
    rule: "the evaluation imports core and engine only; app/eval-workshop.ts gives it a log and the default settings",
  },
  {
    holds: /^src\/cli\//,
    mayImport: [core, /^src\/(app|config|engine|eval|tui|web)\//, ...tools],
    packages: "all",
    rule: "cli imports core, app, config, engine, eval, tui, web and the tools that layers.ts lists; what runs tasks belongs in app",
  },
  {
    holds: /^src\/library\//,
    mayImport: [core, /^src\/app\//, /^src\/adapters\/plugins\/plugin\.ts$/, /^package\.json$/],
    packages: "node",
    rule: "the library imports core, app and what plugins are; it has no logic of its own",
  },
  {
    holds: /^src\/demo-agent\.ts$/,
    mayImport: [core],
    packages: "node",
    rule: "the demo agent stands alone: it imports Node and core only",
  },
  {
    holds: /^src\/sandbox-bridge\.ts$/,
    mayImport: [/^src\/adapters\/sandbox\/(join-sockets|open-tunnel|socket-path)\.ts$/],
    packages: "node",
    rule: "the bridge of a sandbox stands alone: it imports Node, and what carries bytes in adapters/sandbox",
  },
  {
    holds: /^src\/(app\/|(main|index)\.ts$)/,
    mayImport: [everything],
    packages: "all",
    rule: "",
  },
];

/** Who may use what stands at the top; for anyone else they are the wrong direction. */
const doors: readonly { readonly target: RegExp; readonly mayUse: RegExp }[] = [
  { target: /^src\/cli\//, mayUse: /^src\/(cli\/|main\.ts$)/ },
  { target: /^src\/app\/watch-project\.ts$/, mayUse: /^src\/(app|cli|tui|web)\// },
  {
    target: /^src\/app\//,
    mayUse: /^src\/(app\/|cli\/|library\/|main\.ts$|index\.ts$)/,
  },
  { target: /^src\/main\.ts$/, mayUse: /^src\/index\.ts$/ },
];

/** The reason why the file `from` may not import `target` (a path, or the name of a package), if there is one. */
export function layerFinding(from: string, target: string, isTest: boolean): string | undefined {
  const layer = layers.find(({ holds }) => holds.test(from));
  if (layer === undefined)
    return "the file belongs to no layer; move it or add the layer to test/tidy/layers.ts";
  const isPath = target.startsWith("src/") || target.includes("../") || /\.(ts|tsx|json)$/.test(target);
  if (!isPath)
    return isTest || mayImportPackage(layer, target) ? undefined : `imports ${target}; ${layer.rule}`;
  // Tests beside the source may use the fakes and builders under test/.
  if (isTest && target.startsWith("test/")) return undefined;
  const door = doors.find((one) => one.target.test(target));
  if (door !== undefined && !door.mayUse.test(from))
    return `imports ${target}, which only cli and main may do`;
  const isOwn = familyOf(from) !== undefined && familyOf(from) === familyOf(target);
  if (isOwn || layer.mayImport.some((allowed) => allowed.test(target))) return undefined;
  return `imports ${target}; ${layer.rule}`;
}

function mayImportPackage({ packages }: Layer, name: string): boolean {
  return packages === "all" || (packages === "node" && name.startsWith("node:"));
}

/** A folder of src, or of src/adapters: files of one family may import each other. */
function familyOf(path: string): string | undefined {
  return /^src\/(adapters\/[^/]+|web\/client(?=\/)|[^/]+)\//.exec(path)?.[1];
}
