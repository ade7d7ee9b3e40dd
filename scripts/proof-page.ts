import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { curvesSvg, type Curves } from "./curves-svg.ts";
import type { Figures } from "./record-figures.ts";

/** What one command measured, and when. */
interface Measured {
  readonly command: string;
  readonly at: string;
  readonly figures: Figures;
  readonly curves?: Curves;
}

interface Topic {
  readonly title: string;
  readonly about: string;
}

const FOLDER = join(import.meta.dirname, "..", "docs", "proof", "figures");

/** In the order of the page, by the name of their file. */
const TOPICS: Readonly<Record<string, Topic>> = {
  judgement: {
    title: "Honest work and lies, judged by the built program",
    about:
      "Scripted agents in real repositories with real gates, in twelve languages. An honest agent answers the concerns that it is asked about; a liar says the same again, and those that are challenged are tried once more with an answer to every concern. With a reader: one that knows the truth and is asked as `auto` has it.",
  },
  "simulation-appends": {
    title: "Simulated worlds, with a crash before and after each append",
    about:
      "The real engine and core in virtual time, with agents of all characters, lanes, workers, people and weather. Invariants compare with the world's own truth: done means done, nothing done is lost, nothing counts twice, no limit is passed, everything comes to rest, the replayed state is the live one, the files say what the log says.",
  },
  "simulation-calls": {
    title: "The same, with a crash around every call to the outside",
    about: "Every call of a port is a place to die: before it, and after it.",
  },
  "simulation-steps": {
    title: "The same, with a crash at every step inside of those calls",
    about: "Git commands and file writes take several steps; each is a place to die.",
  },
  "simulation-workers-steps": {
    title: "Workers on several machines",
    about:
      "Killed, frozen, cut off from the database or the remote, with jobs lost and delivered twice and clocks hours apart.",
  },
  mutation: {
    title: "Small changes of the core, one at a time",
    about:
      "Every condition turned round, every number and sentence changed, every statement left out: does a test of the pure ones notice? Constants that are made when a file is loaded are left out, since every test would have to run for each.",
  },
  "crash-points": {
    title: "The built program, killed at every step",
    about:
      "Before, and in the middle of, every write, rename, spawn, commit and transaction of a small but complete run, on a real disk; then it is started again.",
  },
  "crash-moments": {
    title: "The built program, killed at random moments",
    about: "`kill -9` of a run that does the same.",
  },
  "crash-moments-more": {
    title: "The same, with stages, conflicting merges, workers and old checks",
    about:
      "A stage that sends a task back, two tasks that change one file, a worker with two lanes, and checks that tasks change.",
  },
  faults: {
    title: "Faults of the machine and of the repository",
    about:
      "Full and read-only disks, missing rights, damaged databases and repositories, several who write at once: the sentence, the exit code, and the next run after mending.",
  },
  fuzz: {
    title: "Hostile input",
    about:
      "Readers of signals and streams, editors of task files, configuration, the web server, hook and tools: no crash, no hang, nothing lost.",
  },
  sentinels: {
    title: "Secrets planted on purpose",
    about:
      "In the environment, the configuration, task texts, addresses of remotes, the queue and the webhook; agents and gates tell them in every way they can, people type them, a bug of ours knows them. Every answer of every command, every route of the page, every notice and all telemetry, every file and commit message is searched for them afterwards.",
  },
  soak: {
    title: "Many iterations in one run",
    about: "Stub agents, one real repository: memory, descriptors and time stay what they were.",
  },
  mutants: {
    title: "Bugs planted on purpose",
    about: "Each changes one thing that the engine relies on; the simulation has to notice.",
  },
};

/** The page that is made from what the long commands measured. */
export function proofPage(generated: string): string {
  const measured = readMeasured();
  const known = Object.keys(TOPICS).filter((name) => measured.has(name));
  const others = [...measured.keys()].filter((name) => !(name in TOPICS)).toSorted();
  const sections = [...known, ...others].flatMap((name) => {
    const one = measured.get(name);
    return one === undefined ? [] : [section(name, TOPICS[name] ?? { title: name, about: "" }, one)];
  });
  return `# What was tried, and what came of it

${generated}

Each of these runs takes longer than the tests, and is repeated by the command below it; with \`--record\` it writes its figures
here. A smaller part of each is in \`npm test\`.

${sections.join("\n")}
`;
}

/** The pictures of the page, by their path. */
export function proofPictures(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...readMeasured()].flatMap(([name, { curves }]) =>
      curves === undefined ? [] : [[`docs/${picture(name)}`, curvesSvg(curves)]],
    ),
  );
}

function picture(name: string): string {
  return `images/${name}.svg`;
}

function section(name: string, { title, about }: Topic, measured: Measured): string {
  const { command, at, figures, curves } = measured;
  const rows = Object.entries(figures).map(
    ([what, value]) => `| ${what.replaceAll("_", " ")} | ${shown(value)} |`,
  );
  return `## ${title}

${about}
${curves === undefined ? "" : `\n![${title}: ${Object.keys(curves.values).join(", ")}](${picture(name)})\n`}
| | |
| --- | --- |
${rows.join("\n")}

\`${command}\` · ${at}
`;
}

function shown(value: Figures[string]): string {
  return typeof value === "number" ? value.toLocaleString("en") : String(value);
}

function readMeasured(): ReadonlyMap<string, Measured> {
  if (!existsSync(FOLDER)) return new Map();
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  return new Map(
    files.map((file) => [
      file.slice(0, -".json".length),
      JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Measured,
    ]),
  );
}
