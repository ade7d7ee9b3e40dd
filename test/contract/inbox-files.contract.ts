import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { InboxFiles } from "../../src/engine/ports.ts";

export interface LettersSubject {
  readonly inboxFiles: InboxFiles;
  /** A person writes below the inbox file. */
  answer(file: string, text: string): Promise<void>;
  dispose(): Promise<void>;
}

export function describeInboxFiles(name: string, create: () => Promise<LettersSubject>): void {
  describe(`letters kept ${name}`, () => {
    let subject: LettersSubject;
    beforeEach(async () => {
      subject = await create();
    });
    afterEach(() => subject.dispose());

    test("are published, read with the same digest, and withdrawn", async () => {
      const sha256 = await subject.inboxFiles.publish("decide.txt", "WebSockets or polling? ✓\n");
      expect(await subject.inboxFiles.read("decide.txt")).toEqual({
        text: "WebSockets or polling? ✓\n",
        sha256,
      });
      await subject.inboxFiles.withdraw("decide.txt");
      await subject.inboxFiles.withdraw("decide.txt");
      expect(await subject.inboxFiles.read("decide.txt")).toBeNull();
    });

    test("have another digest once they are answered", async () => {
      const sha256 = await subject.inboxFiles.publish("decide.txt", "## Answer\n");
      await subject.answer("decide.txt", "polling\n");
      const now = await subject.inboxFiles.read("decide.txt");
      expect(now?.text).toBe("## Answer\npolling\n");
      expect(now?.sha256).not.toBe(sha256);
    });
  });
}
