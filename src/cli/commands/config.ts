import { openProject, readConfigWithOrigins } from "../../app/project.ts";
import type { Style } from "../../core/text.ts";
import { Argument, type Command } from "commander";
import type { ConfigValue } from "../../config/load-config.ts";
import { shownAddress } from "../../config/webhook-address.ts";
import { createRedactor, passwordsIn, secretsIn } from "../../core/redact.ts";
import { tell, type Act, type CliContext } from "../commands.ts";

export function define(command: Command, act: Act): void {
  command
    .addArgument(new Argument("[what]", "schema: a JSON Schema of the file, for editors").choices(["schema"]))
    .option("--json", "print JSON")
    .action(act(config));
}

async function config(context: CliContext, what: "schema" | undefined): Promise<number> {
  if (what === "schema") {
    const { configJsonSchema } = await import("../../config/json-schema.ts");
    context.print(JSON.stringify(configJsonSchema(), null, 2));
    return 0;
  }
  const loaded = await readConfigWithOrigins(await openProject(context));
  const shown = {
    file: loaded.files[0] ?? null,
    files: loaded.files,
    values: withoutSecrets(await loaded.values(), context.env),
    not_in_effect: await loaded.waiting(),
    unknown_variables: loaded.unknownVariables,
  };
  return tell(context, shown, () => [
    loaded.files.join(", ") || "No configuration file: everything is the default, or comes from variables.",
    "",
    ...valueLines(shown.values, context.style),
    ...section(
      "Written, and not in effect:",
      shown.not_in_effect.map(({ key, origin, why }) => `${key} (${origin}): ${why}`),
    ),
    ...section("Variables that are no setting of this version:", loaded.unknownVariables),
  ]);
}

/** Names of variables whose values nobody should read over a shoulder; rather too many than too few. */
const SECRET_NAME = /\.env\..*(?:KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL|COOKIE)|^notify\.secret$/i;

function withoutSecrets(values: readonly ConfigValue[], env: NodeJS.ProcessEnv): readonly ConfigValue[] {
  const written = values.filter(({ key }) => SECRET_NAME.test(key)).map(({ value }) => String(value));
  const inAddresses = values.flatMap(({ value }) => (typeof value === "string" ? passwordsIn(value) : []));
  const redact = createRedactor([...secretsIn(env), ...written, ...inAddresses]);
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(clean);
    return typeof value === "string" ? redact(value) : value;
  };
  return values.map(({ key, value, origin }) => {
    const isHidden = value !== "" && SECRET_NAME.test(key);
    const isAddress = value !== "" && key === "notify.webhook";
    const shown = isHidden ? "[redacted]" : isAddress ? shownAddress(String(value)) : clean(value);
    return { key, value: shown, origin };
  });
}

function valueLines(values: readonly ConfigValue[], style: Style): readonly string[] {
  const cells = values.map(({ key, value, origin }) => [key, JSON.stringify(value), origin] as const);
  const keyWidth = Math.max(...cells.map(([key]) => key.length));
  // One long command does not push all origins out of sight.
  const valueWidth = Math.min(VALUE_WIDTH_MAX, Math.max(...cells.map(([, value]) => value.length)));
  return cells.map(([key, value, origin]) => {
    const row = `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}`;
    return `${row}  ${origin === "default" ? style.dim(origin) : origin}`;
  });
}

const VALUE_WIDTH_MAX = 40;

function section(title: string, rows: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : ["", title, ...rows.map((row) => `  ${row}`)];
}
