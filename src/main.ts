import packageJson from "../package.json" with { type: "json" };
import { runCli } from "./cli/program.ts";

process.exitCode = await runCli(process.argv.slice(2), packageJson.version);
