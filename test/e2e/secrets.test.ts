// Secrets are planted wherever a user may have them, and an agent and a gate tell them in every way they can. After a
// run in which everything goes wrong none of them is anywhere that ralph writes, prints or shows.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { recordFigures } from "../../scripts/record-figures.ts";
import { startReceiver, type Receiver } from "../fixtures/receiver.ts";
import { createProject, until, type Finished, type Project } from "./project.ts";

/** By where it is planted. No two share a part, so that a leak names its place. */
const PLANTED = {
  key: "Zq1-planted-in-the-environment",
  token: 'Zq2-with"quotes/and\\slashes-é',
  secret: "/Zq3planted9LIKEaPathOfBase64x",
  pgpass: "Zq4-password-of-postgres",
  agent: "Zq5-planted-in-the-agents-table",
  gate: "Zq6-planted-in-the-gates-table",
  remote: "Zq7-password-of-the-remote",
  remoteName: "Zq8tokenInPlaceOfAName0123456789",
  queue: "Zq9-password-of-the-queue",
  webhook: "ZqA-token-in-the-address-of-the-webhook",
  signing: "ZqB-secret-that-signs-what-is-posted",
  header: "ZqC-key-in-a-header-of-telemetry",
} as const;
const LEAK = /Zq[1-9A-C]/;

const ENV = {
  PLANTED_API_KEY: PLANTED.key,
  PLANTED_TOKEN: PLANTED.token,
  PLANTED_SECRET: PLANTED.secret,
  PGPASSWORD: PLANTED.pgpass,
};

const CONFIG = `agent = "stub"
[run]
max_attempts = 2
max_stuck = 0
keep_going = true
[[gates]]
name = "check"
command = "sh tell.sh; test -e passes"
env = { CHECK_SECRET = "${PLANTED.gate}" }
[agents.stub]
command = ["sh", "agent.sh"]
format = "text"
env = { STUB_TOKEN = "${PLANTED.agent}" }
[agents.json]
command = ["sh", "json.sh"]
format = "claude"
env = { STUB_TOKEN = "${PLANTED.agent}" }
[notify]
secret = "${PLANTED.signing}"
command = "cat >> ../noticed"
`;

const TELL = `for value in "$PLANTED_API_KEY" "$PLANTED_TOKEN" "$PLANTED_SECRET" "$PGPASSWORD" "$STUB_TOKEN" "$CHECK_SECRET"; do
  test -z "$value" || { echo "error: the value is $value"; echo "it is $value" >&2; }
done
env | grep -e NOTIFY -e OTEL
grep -h secret .ralph/ralph.toml
git remote get-url origin; git remote get-url other
`;

/** Halves of a value in two chunks, all values, a file with one, and the task's own ending. */
const AGENT = `printf 'half %s' "$(printf %s "$PLANTED_API_KEY" | cut -c1-10)"; sleep 0.1
printf '%s\\n' "$(printf %s "$PLANTED_API_KEY" | cut -c11-)"
sh tell.sh
echo "const key = '$STUB_TOKEN $PLANTED_API_KEY';" > "$RALPH_TASK_ID.js"
echo "$PLANTED_API_KEY" >> .ralph/progress.txt
case $RALPH_TASK_ID in
  fails) echo "fatal: $PLANTED_SECRET" >&2; exit 1;;
  lies) echo '<promise>COMPLETE</promise>';;
  blocks) echo "<promise>BLOCKED:needs $PLANTED_API_KEY and $STUB_TOKEN</promise>";;
  asks) echo "<promise>DECIDE:use $PLANTED_API_KEY? | $STUB_TOKEN | no</promise>";;
  *) touch passes; echo '<promise>COMPLETE</promise>';;
esac
`;

/** As in the streams of agents: values inside of JSON, with all escapes there are. */
const JSON_AGENT = `node -e '
const values = [process.env.PLANTED_TOKEN, process.env.STUB_TOKEN, process.env.PLANTED_API_KEY];
const text = "I use " + values.join(" and ") + "\\n<promise>COMPLETE</promise>";
const say = (event, write = JSON.stringify) => console.log(write({ session_id: "s", ...event }));
const ascii = (value) => JSON.stringify(value).replace(/[^ -~]/g, (c) => "\\\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")).replaceAll("/", "\\\\/");
say({ type: "system", subtype: "init", model: "m", tools: [] });
say({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text }, { type: "tool_use", id: "1", name: "Bash", input: { command: "echo " + text } }] } }, ascii);
say({ type: "result", subtype: "success", is_error: false, result: text });
'; touch passes json.txt
`;

const TASKS = ["fails", "lies", "blocks", "asks", "works"];

let project: Project;
let temporary: string;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  const outlets = {
    RALPH_NOTIFY_WEBHOOK: `${receiver.url}/${PLANTED.webhook}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/otlp`,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${PLANTED.header}`,
  };
  project = createProject({ config: CONFIG, env: { ...ENV, ...outlets } });
  temporary = join(project.root, "..", "tmp");
  mkdirSync(temporary);
  const boxes = TASKS.map((id) => `- [ ] **${id}**: ${id} with ${PLANTED.key}\n  - and ${PLANTED.agent}\n`);
  project.write("TODO.md", boxes.join(""));
  for (const [path, text] of Object.entries({ "agent.sh": AGENT, "json.sh": JSON_AGENT, "tell.sh": TELL }))
    project.write(path, text);
  project.git("remote", "add", "origin", `https://me:${PLANTED.remote}@127.0.0.1:1/x.git`);
  project.git("remote", "add", "other", `https://${PLANTED.remoteName}@127.0.0.1:1/x.git`);
  project.commit("tasks");
});
afterEach(async () => {
  project.dispose();
  await receiver.close();
});

/** A person may tell them as well. */
const ACTS: readonly (readonly string[])[] = [
  ["decide", "asks", PLANTED.agent],
  ["unblock", "blocks", "--reason", `${PLANTED.agent} is there`],
  ["steer", `use ${PLANTED.key} or ${PLANTED.gate}`],
];

const EVERYWHERE: readonly (readonly string[])[] = [
  ...[
    "status",
    "tasks",
    "history",
    "metrics",
    "interventions",
    "profile",
    "lessons",
    "promises",
    "inbox",
    "blocked",
    "config",
    "verify",
    "worktrees",
    "gates",
    "doctor",
    "archive",
  ].flatMap((name) => [[name], [name, "--json"]]),
  ...["fails", "asks", "works", "1", "2"].map((what) => ["why", what]),
  ["why", "--json", "lies"],
  ["history", "--jsonl"],
  ["logs"],
  ["logs", "1"],
  ["report"],
  ["report", "--html"],
  ["replay", "last", "--speed", "0"],
  ["prompt"],
];

test("none of them appears in any file, on any screen, in any answer", async () => {
  const outputs = [await ralph("run", "--verbose")];
  for (const args of ACTS) {
    // Its own answer may repeat what was typed, to who typed it.
    expect(await ralph(...args)).toMatchObject({ code: 0 });
  }
  outputs.push(await ralph("run", "--json", "--agent", "json"));
  const web = await visitWeb();
  for (let from = 0; from < EVERYWHERE.length; from += 3)
    outputs.push(...(await Promise.all(EVERYWHERE.slice(from, from + 3).map((args) => ralph(...args)))));
  outputs.push(await ralphThatFails());
  const told = [
    ...outputs.map(({ args, ...out }) => [`ralph ${args}`, out.stdout + out.stderr]),
    ...web,
    ...receiver.requests.map(({ path, body, headers }) => [
      path.startsWith("/otlp") ? "telemetry" : "the webhook",
      `${JSON.stringify({ ...headers, authorization: "" })} ${body}`,
    ]),
  ];
  for (const [where, least] of Object.entries({ telemetry: 10, "the webhook": 4 }))
    expect(told.filter(([from]) => from === where).length).toBeGreaterThanOrEqual(least);
  expect(receiver.requests.every(({ headers }) => !JSON.stringify(headers).includes(PLANTED.signing))).toBe(
    true,
  );
  expect(receiver.requests.map(({ body }) => body).join("")).toContain("asks: use [redacted]?");
  const events = await project.events();
  expect(events.filter(({ type }) => type === "verdict.reached").length).toBeGreaterThan(6);
  expect(told.filter(([, text = ""]) => text.includes("[redacted]")).length).toBeGreaterThan(20);
  const files = filesOf(join(project.root, ".."));
  expect(files.map(([path]) => path.split("/").at(-1))).toContain("noticed");
  const searched = [...told, ...files, ["git log", project.git("log", "--format=%B")]];
  expect(leaksIn(searched)).toEqual([]);
  if (process.env["RECORD_SENTINELS"] === "1")
    recordFigures("sentinels", "npm run sentinels", {
      planted: Object.keys(PLANTED).length,
      "answers of commands searched": outputs.length,
      "answers of the page searched": web.length,
      "notices and batches of telemetry searched": receiver.requests.length,
      "files searched": files.length,
      "kilobytes searched": Math.round(searched.reduce((sum, [, text = ""]) => sum + text.length, 0) / 1e3),
      "places where one was replaced": searched.filter(([, text = ""]) => text.includes("[redacted]")).length,
      leaks: 0,
    });
});

test("neither does the password of the queue", async () => {
  const env = { RALPH_QUEUE_URL: `postgres://ralph:${PLANTED.queue}@127.0.0.1:1/x` };
  project.dispose();
  project = createProject({ env });
  const outputs = await Promise.all(["status", "run", "config"].map((name) => ralph(name)));
  expect(outputs.map(({ code }) => code)).toEqual([expect.any(Number), expect.any(Number), 0]);
  expect(leaksIn(outputs.map(({ args, ...out }) => [args, out.stdout + out.stderr]))).toEqual([]);
  expect(leaksIn(filesOf(join(project.root, "..")))).toEqual([]);
});

type Told = readonly [where: string, text: string];

async function ralph(...args: readonly string[]): Promise<Finished & { readonly args: string }> {
  return { ...(await project.ralph(...args)), args: args.join(" ") };
}

/** A mistake of ours that knows a secret. */
async function ralphThatFails(): Promise<Finished & { readonly args: string }> {
  const mistake = `process.stdout.write = () => { throw new TypeError("no " + process.env.PLANTED_API_KEY + " ${PLANTED.agent}"); };`;
  const broken = {
    ...project.env,
    TMPDIR: temporary,
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(mistake)}`,
  };
  const { startRalph } = await import("./project.ts");
  const finished = await startRalph(project.root, broken, ["run"]).finished;
  expect(finished.stderr).toContain("this is a bug in ralph");
  expect(
    readdirSync(temporary, { recursive: true }).filter((name) => String(name).endsWith("report.txt")),
  ).toHaveLength(1);
  return { ...finished, args: "run, with a bug" };
}

const ROUTES = ["overview", "runs", "timeline", "charts", "iterations"];
const OF_ITERATION = ["", "/transcript", "/prompt", "/diff", "/search?q=value", "/search?q=Zq"];

async function visitWeb(): Promise<readonly Told[]> {
  const running = project.start("web");
  await until("the address is printed", () => running.stdout().includes("\n"));
  const { origin } = new URL(running.stdout());
  const entered = await fetch(running.stdout().trim(), { redirect: "manual" });
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  const paths = ["/", ...ROUTES.map((name) => `/api/${name}`)];
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9])
    paths.push(...OF_ITERATION.map((rest) => `/api/iterations/${number}${rest}`));
  const told = await Promise.all(
    paths.map(async (path): Promise<Told> => {
      const answer = await fetch(`${origin}${path}`, { headers: { cookie } });
      return [`web ${path}`, await answer.text()];
    }),
  );
  const stream = await fetch(`${origin}/api/events`, { headers: { cookie } });
  running.child.kill("SIGINT");
  await running.finished;
  return [...told, ["web /api/events", await stream.text()]];
}

/** What the user planted, and the agent wrote into the user's own work. */
const THEIRS =
  /\/(?:TODO\.md|ralph\.toml|[\w-]+\.js|progress\.txt|\.git\/config|archive\/[^/]+\/(?:TODO\.md|progress\.txt))$/;

/** The task list as it is, for nobody else to read: it comes back byte for byte when an agent has changed it. */
const COPIES = /\/\.git\/ralph\/(?:list|proposals)\//;

function filesOf(folder: string): readonly Told[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !THEIRS.test(path) && !COPIES.test(path))
    .map((path) => [path, readFileSync(path, "latin1")]);
}

function leaksIn(told: readonly (readonly string[])[]): readonly string[] {
  return told.flatMap(([where = "", text = ""]) => {
    const at = text.search(LEAK);
    return at < 0 ? [] : [`${where}: …${text.slice(Math.max(0, at - 60), at + 60)}…`];
  });
}
