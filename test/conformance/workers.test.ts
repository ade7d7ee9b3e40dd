import { describeCrew } from "./crew.contract.ts";
import { workersCrew } from "./workers-crew.ts";

describeCrew({
  name: "workers on Postgres",
  create: (plan, { losesDatabase }) => workersCrew(plan, { hasOwnServer: losesDatabase }),
  hasOthers: true,
});
