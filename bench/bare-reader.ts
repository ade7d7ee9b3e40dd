// The floor of reading: `node bare-reader.ts COMMAND` runs it, splits what it prints into lines, and keeps all of it in a file.
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { once } from "node:events";

const child = spawn("sh", ["-c", process.argv[2] ?? ""], { stdio: ["ignore", "pipe", "inherit"] });
const file = createWriteStream("bare.log");
child.stdout.pipe(file);
let lines = 0;
for await (const _ of createInterface({ input: child.stdout })) lines += 1;
if (!file.closed) await once(file, "close");
console.log(lines);
