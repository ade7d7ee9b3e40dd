import { z } from "zod";
import { configSchema } from "./schema.ts";

/** For editors: what may be written in the file. */
export function configJsonSchema(): object {
  return {
    ...z.toJSONSchema(configSchema, { io: "input", override: ({ jsonSchema }) => dropNoise(jsonSchema) }),
    title: "Configuration of ralph",
  };
}

/** The largest number that JavaScript can count to is no limit of ours. */
function dropNoise(schema: { maximum?: number }): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
