// Stands for a coding agent: takes the prompt on stdin, writes one file, and tells of it in its own way.
import { appendFileSync } from "node:fs";

for await (const chunk of process.stdin) void chunk;
const file = `${process.env.RALPH_TASK_ID}.md`;
appendFileSync(file, "Written by the scribe.\n");
console.log(`WROTE ${file}`);
console.log("PAID 0.02");
console.log("SAY <promise>COMPLETE</promise>");
console.log("END");
