import packageJson from "../package.json" with { type: "json" };
import { reportError } from "./cli/report-error.ts";
import { runCli } from "./cli/commands.ts";
import { tellPluginError } from "./engine/plugin-errors.ts";

process.on("uncaughtException", (error) => {
  if (tellPluginError(error)) return;
  process.exit(reportError(error, false));
});
process.exitCode = await runCli(process.argv.slice(2), packageJson.version);
