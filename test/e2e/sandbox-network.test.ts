import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { programForAll } from "../fixtures/program-for-all.ts";
import { RALPH, startRalph, until, type Project } from "./project.ts";
import { notes, runAs, running, withAgent } from "./sandboxed-agent.ts";

const isRoot = process.getuid?.() === 0;

let project: Project;
/** A service of this machine that is in the list, one that is not, and the operator's own proxy. */
let listed: Server;
let unlisted: Server;
let proxy: Server;
let visits: string[];
let repository: string;

beforeEach(async () => {
  visits = [];
  repository = "";
  const serve = (name: string): Server =>
    createServer(({ headers, url = "" }, response) => {
      visits.push(`${name} ${headers.host} ${url}`);
      const file = join(repository, url.replace(/\?.*$/, ""));
      response.end(url.startsWith("/.git/") && existsSync(file) ? readFileSync(file) : `hello from ${name}`);
    }).listen(0, "127.0.0.1");
  listed = serve("listed");
  unlisted = serve("unlisted");
  proxy = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "");
    request.url = pathname;
    listed.emit("request", request, response);
  }).on("connect", (request: IncomingMessage, inside: Socket) => {
    visits.push(`tunnel ${request.url}`);
    const outside = connect(portOf(listed), "127.0.0.1");
    for (const socket of [inside, outside]) socket.on("error", () => socket.destroy());
    inside.write("HTTP/1.1 200 OK\r\n\r\n");
    inside.pipe(outside).pipe(inside);
  });
  proxy.listen(0, "127.0.0.1");
  await Promise.all([listed, unlisted, proxy].map((server) => once(server, "listening")));
});
afterEach(() => {
  for (const server of [listed, unlisted, proxy]) {
    server.closeAllConnections();
    server.close();
  }
  project.dispose();
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** `script` may use NODE, LISTED and UNLISTED. */
function withNetwork(script: string, list: readonly string[], program = RALPH): Project {
  const address = `http://operator:passw0rd@127.0.0.1:${portOf(proxy)}`;
  return withAgent(script, `network = ${JSON.stringify(list)}\n`, {
    NODE: join(program, "../../node_modules/node/bin/node"),
    LISTED: String(portOf(listed)),
    UNLISTED: String(portOf(unlisted)),
    HTTP_PROXY: address,
    https_proxy: address,
    NO_PROXY: "evil.example.com",
  });
}

const REACHES = String.raw`
note() { echo "$1=$2" >> notes.txt; }
try() { name=$1; shift; if ("$@") > /dev/null 2>&1; then note "$name" yes; else note "$name" no; fi; }
words() { "$NODE" -e 'fetch(process.argv[1]).then(async (r) => console.log(r.status, await r.text()), (e) => console.log(e.cause.message))' "$1"; }
page() { "$NODE" -e 'require("http").get(process.argv[1], (r) => { process.stdout.write(r.statusCode + " "); r.pipe(process.stdout); })' "$1"; }
note name "$(words http://api.example.com/a)"
note pattern "$(page http://deep.down.example.org/b)"
note git "$(git ls-remote http://api.example.com/.git/ HEAD | cut -f 1)"
note tunnel "$(git -c http.proxyAuthMethod=basic -c http.sslVerify=false ls-remote https://api.example.com/ 2>&1 | grep -c 'SSL\|TLS')"
note port "$(words http://127.0.0.1:$LISTED/c)"
try port-of-any-program bash -c "exec 3<> /dev/tcp/127.0.0.1/$LISTED"
note other-name "$(page http://evil.example.com/)"
note other-tunnel "$(git ls-remote https://evil.example.com/ 2>&1)"
note other-port "$(words http://127.0.0.1:$UNLISTED/)"
try directly bash -c "exec 3<> /dev/tcp/127.0.0.1/$UNLISTED"
try without-proxy env -u HTTP_PROXY -u http_proxy -u ALL_PROXY -u all_proxy git ls-remote http://api.example.com/.git/
"$NODE" -e 'const s = require("http").createServer((q, r) => { r.end("mine"); s.close(); }).listen(45871, () => console.log("up"))' > up.fifo & server=$!
until test -s up.fifo; do :; done
note own-server "$(words http://localhost:45871/)"
note passwords "$(cat /proc/[0-9]*/environ | grep -c passw0rd)"
rm up.fifo; git add -A; git commit -qm done; echo '<promise>COMPLETE</promise>'
`;

describe.each(isRoot ? (["ourselves", "nobody"] as const) : (["ourselves"] as const))("for %s", (user) => {
  test("an agent reaches the hosts of the list, and nobody else", async () => {
    let head = "";
    const { program, dispose } = user === "nobody" ? programForAll() : { program: RALPH, dispose: () => {} };
    try {
      project = withNetwork(
        REACHES,
        ["api.example.com", "*.example.org", `127.0.0.1:${portOf(listed)}`],
        program,
      );
      repository = project.root;
      project.git("update-server-info");
      head = project.git("rev-parse", "HEAD");
      const { code, stderr } = await runAs(user, project, program, "run", "-n", "1");
      expect({ code, stderr }).toMatchObject({ code: 0 });
    } finally {
      dispose();
    }
    const refusal = (host: string): string =>
      `403 ${host} is not in "sandbox.network": this sandbox does not let you reach it`;
    expect(notes(project.root)).toEqual({
      name: "200 hello from listed",
      pattern: "200 hello from listed",
      git: head,
      tunnel: "1",
      port: "200 hello from listed",
      "port-of-any-program": "yes",
      "other-name": refusal("evil.example.com:80"),
      "other-tunnel": expect.stringContaining("403") as string,
      "other-port": expect.stringContaining("ECONNREFUSED") as string,
      directly: "no",
      "without-proxy": "no",
      "own-server": "200 mine",
      passwords: "0",
    });
    expect(visits).toEqual(
      expect.arrayContaining([
        "listed api.example.com /a",
        "listed deep.down.example.org /b",
        "tunnel api.example.com:443",
        `listed 127.0.0.1:${portOf(listed)} /c`,
      ]),
    );
    expect(visits.filter((visit) => /unlisted|evil/.test(visit))).toEqual([]);
    expect(project.read(".ralph/logs/iteration-001.log")).toMatch(
      /\nralph: the agent asked for hosts that "sandbox\.network" does not let it reach: evil\.example\.com:80, evil\.example\.com:443\n$/,
    );
  });
});

describe("behind a list of hosts an agent", () => {
  test.each([
    ["exit 7", { is: "exited", code: 7 }],
    ["kill -KILL $$", { is: "exited", code: 137 }],
  ])("ends as ever: %s", async (script, ending) => {
    project = withNetwork(script, ["api.example.com"]);
    await project.ralph("run", "-n", "1", "--no-wait");
    const ended = (await project.events()).find(({ type }) => type === "iteration.ended");
    expect(ended).toMatchObject({ report: { ending } });
  });

  test("reaches them however long the way to its temporary folder is", async () => {
    project = withNetwork(
      `"$NODE" -e 'fetch(process.argv[1]).then(async (r) => console.log(await r.text()))' http://127.0.0.1:$LISTED/ > notes.txt
git add -A; git commit -qm done; echo '<promise>COMPLETE</promise>'`,
      [`127.0.0.1:${portOf(listed)}`],
    );
    const long = join(
      project.root,
      "..",
      "a-folder-with-a-rather-long-name".repeat(3),
      "and-another-one-below-it",
    );
    mkdirSync(long, { recursive: true });
    const finished = await startRalph(project.root, { ...project.env, TMPDIR: long }, ["run", "-n", "1"])
      .finished;
    expect(finished).toMatchObject({ code: 0 });
    expect(project.read("notes.txt")).toBe("hello from listed\n");
  });

  test("may finish when its time is over, still reaches its hosts, and is gone with all that it started", async () => {
    const daemon = `6666${process.pid}`;
    project = withNetwork(
      String.raw`
        trap '"$NODE" -e "fetch(\"http://api.example.com/\").then((r) => r.text()).then(console.log)" > last.txt; exit 0' TERM
        sleep ${daemon} & echo up; wait; sleep 300`,
      ["api.example.com"],
    );
    const { code } = await project.ralph("run", "-n", "1", "--timeout", "4s");
    expect(code).not.toBe(0);
    expect(project.read("last.txt")).toBe("hello from listed\n");
    const ended = (await project.events()).find(({ type }) => type === "iteration.ended");
    expect(ended).toMatchObject({ report: { ending: { is: "timed-out" } } });
    await until(
      "all is gone",
      () => running(daemon) === 0 && running(join(project.root, "..", "programs")) === 0,
    );
  });

  test("dies with us, also when nobody could tell it to", async () => {
    const daemon = `5555${process.pid}`;
    project = withNetwork(`env -i setsid sleep ${daemon} & echo > up.txt; sleep ${daemon}`, [
      "api.example.com",
    ]);
    const { child, finished } = project.start("run", "-n", "1");
    await until("the agent is up", () => existsSync(join(project.root, "up.txt")) && running(daemon) >= 2);
    child.kill("SIGKILL");
    await finished;
    await until(
      "all is gone",
      () => running(daemon) === 0 && running(join(project.root, "..", "programs")) === 0,
    );
  });
});

test("where no list can be had it is refused, and doctor says so", async () => {
  project = withNetwork("exit 0", ["api.example.com"]);
  const sandbox = async (): Promise<unknown> =>
    (JSON.parse((await project.ralph("doctor", "--json")).stdout) as { name: string }[]).find(
      ({ name }) => name === "sandbox",
    );
  expect(await sandbox()).toMatchObject({
    well: true,
    found: expect.stringContaining("bubblewrap with a list of hosts: possible") as string,
  });
  const docker = await project.ralph("run", "--sandbox", "docker");
  expect(docker).toMatchObject({ code: 64, stdout: "" });
  expect(docker.stderr).toContain(
    '"sandbox.network" is a list of hosts, which the sandbox "docker" cannot keep to',
  );
  const config = project.read(".ralph/ralph.toml").replace('"bubblewrap"', '"docker"');
  project.write(".ralph/ralph.toml", config);
  expect(await sandbox()).toMatchObject({
    well: false,
    advice: expect.stringContaining("bubblewrap") as string,
  });
});
