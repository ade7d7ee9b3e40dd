import { queueNameOf, workersOf, type Project } from "../../compose.ts";
import { problem, type Finding } from "./finding.ts";

/** Whether the database can be reached, and who is at work. */
export async function queueFinding(project: Project): Promise<Finding> {
  try {
    const name = await queueNameOf(project);
    const workers = (await workersOf(project)) ?? [];
    const here = workers.filter(({ is }) => is === "here").length;
    const vanished = workers.filter(({ is }) => is === "vanished").length;
    const found = [
      `the database ${name} answers`,
      `${here} ${here === 1 ? "worker is" : "workers are"} here`,
      ...(vanished === 0 ? [] : [`${vanished} vanished in the last day`]),
    ];
    return { name: "queue", well: true, found: found.join(", "), advice: null };
  } catch (error) {
    return problem("queue", error);
  }
}
