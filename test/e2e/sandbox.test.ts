import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { programForAll } from "../fixtures/program-for-all.ts";
import { createProject, RALPH, until, type Project } from "./project.ts";
import { BUBBLEWRAP, notes, runAs, running, withAgent } from "./sandboxed-agent.ts";

const isRoot = process.getuid?.() === 0;

let project: Project;
let server: Server;
let port: number;
let visitors: number;

beforeEach(async () => {
  visitors = 0;
  server = createServer((socket) => {
    visitors += 1;
    socket.on("error", () => {}).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
});
afterEach(() => {
  server.close();
  project.dispose();
});

/** Tries everything that it should not be able to do, and does its task all the same. */
const TRIES_EVERYTHING = String.raw`
outside=$(cd .. && pwd)
note() { echo "$1=$2" >> notes.txt; }
try() { name=$1; shift; if ("$@") > /dev/null 2>&1; then note "$name" yes; else note "$name" no; fi; }
try reads-beside cat "$outside/sentinel"
echo x > "$outside/intruder"; echo x > "$outside/sentinel"
try writes-system touch /usr/intruder /etc/intruder /intruder
try reads-home cat "$HOME/sentinel"
try writes-home bash -c 'echo mine > ~/mine && test -s ~/mine'
try reads-shadow cat /etc/shadow
try sets-kernel bash -c 'cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness'
try signals-us kill -0 "$OUR_PID"
note state "$(ls -A .git/ralph 2>&1)"
try writes-state touch .git/ralph/x
try installs-hook bash -c 'echo x > .git/hooks/post-commit'
try configures-git git config core.fsmonitor /bin/false
try leads-git-away bash -c 'echo ../evil > .git/commondir || echo ../evil > .git/worktrees/x/commondir'
try adds-settings bash -c 'echo "[core]" > .git/config.worktree'
try adds-objects bash -c 'echo / > .git/objects/info/alternates'
try has-descriptor ls /proc/self/fd/200/etc
try moves-git mv .git .git-away
try configures-us bash -c 'echo x >> .ralph/ralph.toml'
try moves-us mv .ralph .ralph-away
note others "$(cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -c '[s]tart.cjs run')"
try reaches-network bash -c "exec 3<> /dev/tcp/127.0.0.1/$PORT"
note secret "$CLOUD_SECRET"
note allowed "$ALLOWED_TOKEN"
note given "$GIVEN_TOKEN"
note user "$(id -u)"
env -i setsid sleep "$DAEMON" > /dev/null 2>&1 &
echo done > work.txt
git add work.txt && git commit -qm 'by the agent' && note author "$(git log -1 --format=%an)"
call() { echo '{"jsonrpc":"2.0","id":'$1',"method":"'$2'","params":'$3'}'; }
{ call 1 initialize '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}'
  call 2 tools/call '{"name":"task_complete","arguments":{"summary":"done"}}'; } |
  "$NODE" "$START" mcp > mcp.txt 2>&1
`;

describe.each(isRoot ? (["ourselves", "nobody"] as const) : (["ourselves"] as const))("for %s", (user) => {
  test("an agent does its work, and can do nothing else", async () => {
    const daemon = `7777${process.pid}${user === "nobody" ? 1 : 0}`;
    const { program, dispose } = user === "nobody" ? programForAll() : { program: RALPH, dispose: () => {} };
    try {
      project = withAgent(
        TRIES_EVERYTHING,
        'network = "off"\nenv = ["ALLOWED_TOKEN"]\n[agents.sh.env]\nGIVEN_TOKEN = "given-secret"\n',
        {
          CLOUD_SECRET: "cloud-secret",
          ALLOWED_TOKEN: "allowed-secret",
          OUR_PID: String(process.pid),
          PORT: String(port),
          DAEMON: daemon,
          NODE: join(program, "../../node_modules/node/bin/node"),
          START: join(program, "..", "start.cjs"),
        },
      );
      project.write("../sentinel", "secret");
      project.write("../home/sentinel", "secret");
      project.write("../home/.gitconfig", "[user]\nname = Operator at home\n[commit]\ngpgSign = true\n");
      project.git("config", "--unset", "user.name");
      const { code, stderr } = await runAs(user, project, program, "run", "-n", "1");
      expect({ code, stderr }).toMatchObject({ code: 0 });
    } finally {
      dispose();
    }
    const uid = user === "nobody" ? 65_534 : (process.getuid?.() ?? -1);
    expect(notes(project.root)).toEqual({
      "writes-system": "no",
      "reads-beside": "no",
      "reads-home": "no",
      "writes-home": "yes",
      "reads-shadow": "no",
      "sets-kernel": "no",
      "signals-us": "no",
      state: "",
      "writes-state": "no",
      "installs-hook": "no",
      "configures-git": "no",
      "leads-git-away": "no",
      "adds-settings": "no",
      "adds-objects": "no",
      "has-descriptor": "no",
      "moves-git": "no",
      "configures-us": "no",
      "moves-us": "no",
      others: "0",
      "reaches-network": "no",
      secret: "",
      allowed: "allowed-secret",
      given: "given-secret",
      user: String(uid === 0 ? 1_000 : uid),
      author: "Operator at home",
    });
    for (const name of ["commondir", "config.worktree", "objects/info/alternates"])
      expect(existsSync(join(project.root, ".git", name))).toBe(false);
    expect(visitors).toBe(0);
    expect(existsSync(join(project.root, "..", "intruder"))).toBe(false);
    expect(project.read("../sentinel")).toBe("secret");
    expect(existsSync(join(project.root, "..", "home", "mine"))).toBe(false);
    expect(statSync(join(project.root, "work.txt")).uid).toBe(uid);
    await until("the daemon is gone", () => running(daemon) === 0);
  });
});

describe("an agent", () => {
  test("has a HOME that lasts, sees only its worktree, and the network unless that is off", async () => {
    const script = String.raw`
      echo "home=$(cat ~/mark 2> /dev/null)" >> notes.txt
      echo "checkout=$(ls -A "$CHECKOUT" | tr '\n' ' ')" >> notes.txt
      (exec 3<> /dev/tcp/127.0.0.1/$PORT) 2> /dev/null && echo "network=yes" >> notes.txt
      test -e ~/mark && echo '<promise>COMPLETE</promise>'
      echo "from $RALPH_ITERATION" > ~/mark; git add -A; git commit -qm "iteration $RALPH_ITERATION"`;
    project = withAgent(script, "", { PORT: String(port) });
    Object.assign(project.env, { CHECKOUT: project.root });
    const { code } = await project.ralph("run", "-n", "2", "--worktree");
    expect(code).toBe(0);
    expect(notes(project.root)).toEqual({ home: "from 1", checkout: ".git .ralph ", network: "yes" });
    expect(visitors).toBe(2);
    const [started] = await project.events();
    expect(started).toMatchObject({ settings: { sandbox: { kind: "bubblewrap", network: "on" } } });
    const { run } = JSON.parse((await project.ralph("status", "--json")).stdout) as { run: unknown };
    expect(run).toMatchObject({ sandbox: "bubblewrap" });
  });

  test("may finish when its time is over, and is gone with all that it started", async () => {
    const daemon = `8888${process.pid}`;
    project = withAgent(
      `trap 'sleep 1; echo "I was at work" > last.txt; exit 0' TERM; sleep ${daemon} & echo up; wait; sleep 300`,
    );
    const { code } = await project.ralph("run", "-n", "1", "--timeout", "1s");
    expect(code).not.toBe(0);
    expect(project.read("last.txt")).toBe("I was at work\n");
    await until("the daemon is gone", () => running(daemon) === 0);
    const ended = (await project.events()).find(({ type }) => type === "iteration.ended");
    expect(ended).toMatchObject({ report: { ending: { is: "timed-out" } } });
  });

  test("dies with us, also when nobody could tell it to", async () => {
    const daemon = `9999${process.pid}`;
    project = withAgent(`env -i setsid sleep ${daemon} & echo > up.txt; sleep ${daemon}`);
    const { child, finished } = project.start("run", "-n", "1");
    await until("the agent is up", () => existsSync(join(project.root, "up.txt")) && running(daemon) >= 2);
    child.kill("SIGKILL");
    await finished;
    await until("the daemon is gone", () => running(daemon) === 0);
  });
});

describe("without what a sandbox takes", () => {
  test("no agent is started, and a sentence says what to do", async () => {
    project = createProject({ config: `agent = "demo"\n${BUBBLEWRAP}` });
    const bin = join(project.root, "..", "bin");
    mkdirSync(bin);
    for (const name of ["git", "sh", "readlink"]) {
      symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(bin, name));
    }
    Object.assign(project.env, { PATH: bin });
    const none = await project.ralph("run");
    expect(none).toMatchObject({ code: 64, stdout: "" });
    expect(none.stderr).toMatch(
      /needs the program bwrap, which is not installed\n.*install the package bubblewrap/,
    );
    expect(existsSync(join(project.root, ".ralph", "logs"))).toBe(false);
    const doctor = await project.ralph("doctor", "--json");
    const sandbox = (text: string): unknown =>
      (JSON.parse(text) as { name: string }[]).find(({ name }) => name === "sandbox");
    expect(sandbox(doctor.stdout)).toMatchObject({ well: false });
    project.write(".ralph/ralph.toml", 'agent = "demo"\n');
    expect(sandbox((await project.ralph("doctor", "--json")).stdout)).toMatchObject({ well: true });
    expect((await project.ralph("run", "--sandbox")).stderr).toContain("install the package bubblewrap");
  });

  test("hooks that an agent can change are refused", async () => {
    project = withAgent("exit 1", "[git]\nhooks = true\n");
    project.git("config", "core.hooksPath", ".husky");
    const refused = await project.ralph("run");
    expect(refused).toMatchObject({ code: 64, stdout: "" });
    expect(refused.stderr).toMatch(/can change the hooks in .*\.husky/);
    project.git("config", "core.hooksPath", join(project.root, "../hooks"));
    expect((await project.ralph("run", "-n", "1")).code).toBe(1);
  });

  test("docker is refused too, and --no-sandbox says that none is wanted", async () => {
    project = createProject({ env: { DOCKER_HOST: "unix:///nonexistent/docker.sock" } });
    const goal = await project.ralph("run", "--sandbox", "mend the tests");
    expect(goal).toMatchObject({ code: 64, stdout: "" });
    expect(goal.stderr).toContain('a goal comes before it: ralph run "mend the tests" --sandbox');
    const noImage = await project.ralph("run", "--sandbox", "docker");
    expect(noImage).toMatchObject({ code: 64, stdout: "" });
    expect(noImage.stderr).toContain('"sandbox.image" names none');
    const config = project.read(".ralph/ralph.toml");
    project.write(".ralph/ralph.toml", `${config}[sandbox]\nkind = "docker"\nimage = "agents"\n`);
    project.commit("docker");
    const noEngine = await project.ralph("run");
    expect(noEngine).toMatchObject({ code: 64, stdout: "" });
    expect(noEngine.stderr).toMatch(/no docker engine answers|needs the program docker/);
    expect(existsSync(join(project.root, ".ralph", "logs"))).toBe(false);
    expect((await project.ralph("run", "--no-sandbox")).code).toBe(0);
  });
});
