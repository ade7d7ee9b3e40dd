import { afterEach, expect, test, vi } from "vitest";
import {
  temporaryRepository,
  type TemporaryRepository,
} from "../../../test/fixtures/temporary-repository.ts";
import { findRepository } from "../git/find-repository.ts";
import { createRemoteGit } from "./remote-git.ts";

let repository: TemporaryRepository;
afterEach(() => {
  vi.useRealTimers();
  repository.dispose();
});

test("what is said after its end starts no patience anew: by then another process may have its number", async () => {
  repository = temporaryRepository();
  const found = await findRepository(repository.root);
  const git = await createRemoteGit(found, { env: process.env, patienceMs: 60_000 });
  const late = "alias.late=!(while kill -0 $PPID; do sleep 0.05; done; echo late) 2>/dev/null & exit 0";
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  expect(await git(["-c", late, "late"])).toMatchObject({ code: 0, stdout: "late\n", isSilent: false });
  expect(vi.getTimerCount()).toBe(0);
});
