import { expect, test } from "vitest";
import { insideEnvironment, namesForImage } from "./inside-environment.ts";

const OPERATOR = {
  PATH: "/usr/bin",
  HOME: "/home/me",
  TMPDIR: "/var/folders/x",
  JAVA_HOME: "/opt/java",
  LC_ALL: "C.UTF-8",
  HTTPS_PROXY: "http://me:password@proxy:3128",
  DATABASE_URL: "postgres://me:password@db/app",
  AWS_SECRET_ACCESS_KEY: "aws-secret",
  NPM_TOKEN: "npm-secret",
  ANTHROPIC_API_KEY: "model-secret",
  SSH_AUTH_SOCK: "/run/agent.sock",
  DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1000/bus",
  RALPH_MARKER: "m",
  RALPH_STATE: "/state",
};
const CLAUDE = { env: OPERATOR, own: /^ANTHROPIC_/, named: [] };

test("an agent gets what is plain, and of secrets only its own", () => {
  const { GIT_CONFIG_COUNT, ...inside } = insideEnvironment(CLAUDE);
  expect(Object.keys(inside).filter((name) => !name.startsWith("GIT_CONFIG_"))).toEqual([
    "PATH",
    "HOME",
    "TMPDIR",
    "JAVA_HOME",
    "LC_ALL",
    "HTTPS_PROXY",
    "ANTHROPIC_API_KEY",
    "RALPH_MARKER",
  ]);
  expect(inside).toMatchObject({ TMPDIR: "/tmp", ANTHROPIC_API_KEY: "model-secret" });
  expect(GIT_CONFIG_COUNT).toBe("2");
});

test("what the operator names for it, it gets", () => {
  const inside = insideEnvironment({ ...CLAUDE, named: ["NPM_TOKEN", "SSH_AUTH_SOCK"] });
  expect(inside).toMatchObject({ NPM_TOKEN: "npm-secret", SSH_AUTH_SOCK: "/run/agent.sock" });
  expect(inside).not.toHaveProperty("AWS_SECRET_ACCESS_KEY");
});

test("settings of git that are there already stay, and commits are not signed", () => {
  const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "Me" };
  expect(insideEnvironment({ ...CLAUDE, env })).toMatchObject({
    ...env,
    GIT_CONFIG_COUNT: "3",
    GIT_CONFIG_KEY_1: "commit.gpgSign",
    GIT_CONFIG_VALUE_1: "false",
    GIT_CONFIG_KEY_2: "tag.gpgSign",
  });
});

test("an image has its own PATH and programs", () => {
  const names = namesForImage(CLAUDE).filter((name) => !name.startsWith("GIT_"));
  expect(names).toEqual(["ANTHROPIC_API_KEY", "HOME", "HTTPS_PROXY", "LC_ALL", "RALPH_MARKER", "TMPDIR"]);
});

test("an image gets all settings of git that the count speaks of", () => {
  const count = namesForImage(CLAUDE).filter((name) => name.startsWith("GIT_CONFIG_KEY_"));
  expect(count).toEqual([0, 1, 2, 3].map((index) => `GIT_CONFIG_KEY_${index}`));
});
