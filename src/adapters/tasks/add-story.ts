import type { JsonArray, JsonObject } from "./read-json.ts";
import { nextId } from "./next-id.ts";
import { parse, scanTasksJson, storyList } from "./scan-tasks-json.ts";
import { splice } from "./splice.ts";

/** The file with one more story after the last one, in the manner of that one. */
export function addStory(file: Buffer, title: string, path: string): Buffer {
  const { stories } = scanTasksJson(file, path);
  const list = storyList(parse(file, path));
  if (list === null) throw new Error("a list that was there is gone");
  const last = stories.at(-1)?.node;
  const id = nextId(
    stories.map(({ task }) => task.id),
    "US-",
  );
  const priority = Math.max(0, ...stories.map(({ task }) => Math.ceil(task.priority ?? 0))) + 1;
  const values = valuesFor(last, { ...UNTOUCHED, id, title, priority });
  const text = file.toString("latin1");
  return last === undefined
    ? splice(file, { start: list.start + 1, end: list.end - 1, text: firstStory(text, list, values) })
    : splice(file, { start: last.end, end: last.end, text: furtherStory(text, list, last, values) });
}

/** What a new story says under the keys that we know. */
const UNTOUCHED: Readonly<Record<string, unknown>> = {
  id: "",
  title: "",
  description: "",
  acceptanceCriteria: [],
  priority: null,
  passes: false,
  reviewStatus: null,
  reviewCount: 0,
  reviewFeedback: "",
  notes: "",
  dependsOn: [],
};

const USUAL_KEYS = ["id", "title", "description", "acceptanceCriteria", "priority", "passes"];

type Values = readonly (readonly [key: string, json: string])[];

function valuesFor(last: JsonObject | undefined, known: Readonly<Record<string, unknown>>): Values {
  const written =
    last?.members.map(({ key }) => key).filter((key) => Object.hasOwn(known, key)) ?? USUAL_KEYS;
  const keys = new Set([...written, "id", "title", "passes"]);
  return [...keys].map((key) => [key, JSON.stringify(known[key])]);
}

function furtherStory(text: string, list: JsonArray, last: JsonObject, values: Values): string {
  const spaceBefore = (end: number): string => /[ \t\r\n]*$/.exec(text.slice(list.start, end))?.[0] ?? "";
  const [first, second] = last.members;
  const opening = spaceBefore(first?.keyStart ?? last.end);
  const between = second === undefined ? opening : spaceBefore(second.keyStart);
  const colon = first === undefined ? ": " : text.slice(first.keyEnd, first.value.start);
  const members = values.map(([key, json]) => `${JSON.stringify(key)}${colon}${json}`);
  return `,${spaceBefore(last.start)}{${opening}${members.join(`,${between}`)}${spaceBefore(last.end - 1)}}`;
}

function firstStory(text: string, list: JsonArray, values: Values): string {
  const [, ending, indent = ""] = /(\r\n|\n|\r)([ \t]*)[^\r\n]*$/.exec(text.slice(0, list.start)) ?? [];
  if (ending === undefined)
    return `{${values.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`;
  const step = indent === "" ? "  " : indent;
  const outer = `${ending}${indent}${step}`;
  const members = values.map(([key, json]) => `${outer}${step}${JSON.stringify(key)}: ${json}`);
  return `${outer}{${members.join(",")}${outer}}${ending}${indent}`;
}
