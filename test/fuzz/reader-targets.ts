import { fromWire } from "../../src/core/wire.ts";
import { templateProblem } from "../../src/core/prompt/build-prompt.ts";
import { createStreamReader } from "../../src/adapters/agents/stream-reader.ts";
import { issueTask } from "../../src/adapters/tasks/github-source.ts";
import { scanChecklist } from "../../src/adapters/tasks/scan-checklist.ts";
import { scanRoadmap } from "../../src/adapters/tasks/roadmap-format.ts";
import { readPlan } from "../../src/adapters/tasks/stories-format.ts";
import { answerToolUse } from "../../src/cli/commands/hook.ts";
import { readLastWords } from "../../src/cli/hook/stop-hook.ts";
import { readJson, readToml } from "../../src/config/config-text.ts";
import { readYaml } from "../../src/config/read-yaml.ts";
import { createRedactor } from "../../src/core/redact.ts";
import { createSignalReader } from "../../src/core/words/read-signals.ts";
import { fieldsOf } from "../../src/core/streams/json-fields.ts";
import type { StreamFormat } from "../../src/core/streams/stream-format.ts";
import { readReview } from "../../src/core/verdict/reader.ts";
import { hostileText } from "./hostile-text.ts";
import { mutate } from "./mutate.ts";
import * as seeds from "./seeds.ts";
import type { Target } from "./target.ts";

const FORMATS: readonly StreamFormat[] = ["claude", "codex", "gemini", "copilot", "opencode", "acp"];
const PROMISE = { completion: "COMPLETE", requireXml: false } as const;

const streams = FORMATS.map((format) =>
  reader(format, seeds.seedsIn(`test/recordings/${format}/*.jsonl`), (text) => {
    const stream = createStreamReader(format, { promise: PROMISE, prompt: "the prompt", workspace: "/w" });
    for (const line of text.split("\n")) stream.stdoutLine(line);
    stream.activity();
    stream.analyze({ is: "exited", code: 0 });
  }),
);

/** Everything that reads text and does nothing else. */
export const READERS: readonly Target[] = [
  ...streams,
  reader("signals", seeds.seedsIn("test/recordings/*/*.stderr.txt", "docs/guide/*.md"), (text) => {
    const signals = createSignalReader(PROMISE);
    for (const line of text.split("\n")) signals.readLine(line);
    signals.report(null);
  }),
  reader("review", [seeds.REVIEW], (text) => void readReview(text)),
  reader("checklist", [seeds.CHECKLIST], (text) => void scanChecklist(Buffer.from(text, "latin1"))),
  reader("roadmap", [seeds.ROADMAP], (text) => void scanRoadmap(Buffer.from(text, "latin1"))),
  reader("tasks.json", [seeds.TASKS_JSON], (text) => void readPlan(Buffer.from(text), "tasks.json")),
  reader("issue", seeds.seedsIn("docs/guide/*.md"), (text) => {
    issueTask({ number: 1, title: text, body: text, labels: [{ name: text }] }, false);
  }),
  reader("toml", [seeds.TOML], (text) => void readToml(text)),
  reader("yaml", [seeds.YAML], (text) => void readYaml(text)),
  reader("json", [seeds.CONFIG_JSON], (text) => void readJson(text)),
  reader("redact", seeds.seedsIn("docs/guide/*.md"), (text) => void createRedactor(["sentinel-value"])(text)),
  reader("template", ["# {{title}}\n\n{{criteria}}\n{{nothing}}\n"], (text) => void templateProblem(text)),
  reader("hook", [seeds.HOOK_INPUT], (text) => {
    const input = fieldsOf(parsed(text));
    answerToolUse(input, {});
    readLastWords(input, {});
  }),
  reader(
    "export",
    ['{"position":1,"at":"2026-01-01T00:00:00.000Z","v":1,"type":"run.ended","outcome":"completed"}'],
    (text) => {
      for (const line of text.split("\n")) if (line !== "") fromWire(parsed(line));
    },
  ),
];

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // as those do who call it
  }
}

/** Of three inputs two are real ones that were spoilt, and one is made of pieces. */
function reader(name: string, texts: readonly string[], read: (text: string) => void): Target {
  return {
    name,
    make(random, isSmall) {
      const seed = random.pick(texts);
      if (random.chance(0.67)) return mutate(random, isSmall ? seed.slice(0, 4_000) : seed);
      return isSmall ? hostileText(random, "small").slice(0, 4_000) : hostileText(random, name);
    },
    open: () => ({ take: read }),
  };
}
