// A reporter for vitest: writes what failed, wherever it failed, to the file that CHECK_REPORT names.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule, TestSuite } from "vitest/node";
import type { Failure, TestReport } from "./test-report.ts";

interface ErrorToTell {
  readonly name?: string | undefined;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly diff?: string | undefined;
}

export default class TestReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    const path = process.env["CHECK_REPORT"];
    if (path === undefined) throw new Error("CHECK_REPORT names no file");
    const count = (state: "passed" | "failed" | "skipped"): number =>
      modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
    const report: TestReport = {
      passed: count("passed"),
      failed: count("failed"),
      skipped: count("skipped"),
      failures: [
        ...modules.flatMap(failuresOf),
        ...strayErrors.map((error) => ({ file: "outside the tests", name: "", message: tellError(error) })),
      ],
    };
    writeFileSync(path, JSON.stringify(report));
  }
}

function failuresOf(module: TestModule): readonly Failure[] {
  const file = relative(process.cwd(), module.moduleId);
  const failure = (name: string, errors: readonly ErrorToTell[]): Failure => ({
    file,
    name,
    message: errors.map(tellError).join("\n"),
  });
  const suites: readonly TestSuite[] = [...module.children.allSuites()];
  const broken = suites.filter((suite) => suite.errors().length > 0);
  return [
    ...(module.errors().length > 0 ? [failure("", module.errors())] : []),
    ...broken.map((suite) => failure(suite.fullName, suite.errors())),
    ...[...module.children.allTests("failed")].map((test) =>
      failure(test.fullName, test.result().errors ?? []),
    ),
  ];
}

/** The message, the difference and the first place of ours in the stack. */
function tellError({ name, message, stack, diff }: ErrorToTell): string {
  const place = stack
    ?.split("\n")
    .find((line) => /^\s+at /.test(line) && !/node_modules|node:internal/.test(line));
  return [`${name ?? "Error"}: ${message}`, place, diff].filter((part) => part !== undefined).join("\n");
}
