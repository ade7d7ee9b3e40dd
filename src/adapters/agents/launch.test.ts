import { expect, test } from "vitest";
import { LAUNCH } from "../../../test/fixtures/launch.ts";
import type { AgentAdapter } from "./agent-adapter.ts";
import type { AgentSandbox, AgentStart } from "../system/agent-sandbox.ts";
import { startOf } from "./launch.ts";
import { textAdapter } from "./text-adapter.ts";

const ADAPTER: AgentAdapter = {
  ...textAdapter,
  command: () => ({ command: ["sh", "--work"], input: "Do it.\n", env: { OWN: "1" } }),
  locate: () => "/opt/native/sh",
  belongings: (_, env) => ({ folders: [], shows: [env["OWN"] ?? ""], variables: /^OWN$/ }),
};
const AGENT = { ...LAUNCH.agent, name: "mine", env: { MY_KEY: "k" } };
const LAUNCHED = { ...LAUNCH, agent: AGENT, workspace: "/", env: { PATH: "/bin:/usr/bin" } };

function sandbox(hasOwnPrograms: boolean, starts: AgentStart[] = []): AgentSandbox {
  return {
    hasOwnPrograms,
    async around(start) {
      starts.push(start);
      return { command: ["box", ...start.command], env: { ...start.env, IN: "1" }, onlyHolds: true };
    },
  };
}

test("without a sandbox the program is started as it is", async () => {
  expect(await startOf(ADAPTER, LAUNCHED, "/prompt.md", true)).toEqual({
    command: ["/opt/native/sh", "--work"],
    env: { PATH: "/bin:/usr/bin", OWN: "1" },
    input: "Do it.\n",
  });
});

test("a sandbox is told everything about a start, and puts another in its place", async () => {
  const starts: AgentStart[] = [];
  const start = await startOf(ADAPTER, LAUNCHED, "/prompt.md", true, sandbox(false, starts));
  expect(start).toMatchObject({
    command: ["box", "/opt/native/sh", "--work"],
    onlyHolds: true,
    input: "Do it.\n",
  });
  expect(starts).toEqual([
    {
      agent: "mine",
      command: ["/opt/native/sh", "--work"],
      env: { PATH: "/bin:/usr/bin", OWN: "1" },
      given: ["MY_KEY"],
      workspace: "/",
      folder: LAUNCH.folder,
      promptFile: "/prompt.md",
      marker: LAUNCH.marker,
      belongings: { folders: [], shows: ["1"], variables: /^OWN$/ },
    },
  ]);
  await startOf(ADAPTER, LAUNCHED, "/prompt.md", false, sandbox(false, starts));
  expect(starts[1]?.promptFile).toBeNull();
});

test("where programs are found inside, nobody looks for them here", async () => {
  expect((await startOf(ADAPTER, LAUNCHED, "/prompt.md", true, sandbox(true))).command).toEqual([
    "box",
    "sh",
    "--work",
  ]);
});
