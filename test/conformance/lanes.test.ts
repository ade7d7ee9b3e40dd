import { describeCrew } from "./crew.contract.ts";
import { lanesCrew } from "./lanes-crew.ts";

describeCrew({ name: "lanes on SQLite", create: lanesCrew, hasOthers: false });
