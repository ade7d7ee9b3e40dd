// `node test/agents/model-server/main.ts PORT`: the scripted model, for trying a program by hand.
import { SCENARIOS } from "./scenarios.ts";
import { startModelServer } from "./start-model-server.ts";

const { url } = await startModelServer(Number(process.argv[2] ?? 8199));
console.log(`The model is at ${url}/s/SCENARIO[@TAG]; scenarios: ${Object.keys(SCENARIOS).join(" ")}`);
