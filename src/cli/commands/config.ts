import { Argument, type Command } from "commander";
import { openProject, readConfigWithOrigins } from "../../compose.ts";
import type { ConfigValue, Waiting } from "../../config/load-config.ts";
import { shownAddress } from "../../config/webhook-address.ts";
import { createRedactor, passwordsIn, secretsIn } from "../../core/redact.ts";
import type { Act, CliContext } from "../commands.ts";
import { styleFor, type Style } from "../print/style.ts";

export function define(command: Command, act: Act): void {
  command
    .addArgument(new Argument("[what]", "schema: a JSON Schema of the file, for editors").choices(["schema"]))
    .option("--json", "print JSON")
    .action((what: string | undefined, flags: { json?: boolean }) =>
      act((context) => (what === "schema" ? schema(context) : config(flags.json === true, context))),
    );
}

async function schema({ stdout }: CliContext): Promise<number> {
  const { configJsonSchema } = await import("../../config/schema-node.ts");
  stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  return 0;
}

async function config(asJson: boolean, context: CliContext): Promise<number> {
  const loaded = await readConfigWithOrigins(await openProject(context), context.env);
  const shown: Shown = {
    file: loaded.file,
    values: withoutSecrets(await loaded.values(), context.env),
    not_in_effect: await loaded.waiting(),
    unknown_variables: loaded.unknownVariables,
  };
  if (asJson) context.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  else
    for (const line of lines(shown, styleFor(context.stdout, context.env))) context.stdout.write(`${line}\n`);
  return 0;
}

/** What is printed, also as JSON. */
interface Shown {
  readonly file: string | null;
  readonly values: readonly ConfigValue[];
  readonly not_in_effect: readonly Waiting[];
  readonly unknown_variables: readonly string[];
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
  return values.map((one) => ({
    ...one,
    value: shown(one, clean),
  }));
}

function shown({ key, value }: ConfigValue, clean: (value: unknown) => unknown): unknown {
  if (value === "") return value;
  if (key === "notify.webhook") return shownAddress(String(value));
  return SECRET_NAME.test(key) ? "[redacted]" : clean(value);
}

function lines(shown: Shown, style: Style): readonly string[] {
  const cells = shown.values.map(({ key, value, origin }) => [key, JSON.stringify(value), origin] as const);
  const keyWidth = Math.max(...cells.map(([key]) => key.length));
  // One long command does not push all origins out of sight.
  const valueWidth = Math.min(VALUE_WIDTH_MAX, Math.max(...cells.map(([, value]) => value.length)));
  return [
    shown.file ?? "No configuration file: everything is the default, or comes from variables.",
    "",
    ...cells.map(([key, value, origin]) => {
      const row = `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}`;
      return `${row}  ${origin === "default" ? style.dim(origin) : origin}`;
    }),
    ...section(
      "Written, and not in effect:",
      shown.not_in_effect.map(({ key, origin, why }) => `${key} (${origin}): ${why}`),
    ),
    ...section("Variables that are no setting of this version:", shown.unknown_variables),
  ];
}

const VALUE_WIDTH_MAX = 40;

function section(title: string, rows: readonly string[]): readonly string[] {
  return rows.length === 0 ? [] : ["", title, ...rows.map((row) => `  ${row}`)];
}
