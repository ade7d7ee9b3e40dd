// The reference of the library and of plugins, from the declarations that are published and what is said about them there.
import { rollUpTypes, type Declaration } from "./roll-up-types.ts";

export function apiPage(generated: string): string {
  const all = rollUpTypes();
  const isCalled = ({ text }: Declaration): boolean => /^export declare (?:function|class) /m.test(text);
  const isOfPlugins = ({ name }: Declaration): boolean => OF_PLUGINS.test(name);
  const exported = all.filter((one) => one.isExported);
  const types = exported.filter((one) => !isCalled(one));
  return `# Library and plugins

${generated}

Everything that can be imported from \`"ralph"\`. How it is used is told in [Extending](../extending/README.md).

## What can be called

${sections(exported.filter(isCalled))}

## Types of the library

${sections(types.filter((one) => !isOfPlugins(one)))}

## Types of plugins

${sections(types.filter(isOfPlugins))}

## Parts of these

They have no name of their own for who imports.

${sections(all.filter((one) => !one.isExported))}
`;
}

const OF_PLUGINS =
  /^(?:Plugin|Agent|Analyze|Source|Gate|Exit$|Changes$|Iteration|Observed|OpenEnded|Environment)/;

function sections(declarations: readonly Declaration[]): string {
  return declarations.map(sectionOf).join("\n\n");
}

function sectionOf({ name, text }: Declaration): string {
  const [comment = ""] = /^\/\*\*[^]*?\*\/\s*/.exec(text) ?? [];
  const said = comment.replaceAll(/^\s*\/?\*+\/?[ ]?|\*\/\s*$/gm, "").trim();
  const code = text.slice(comment.length).replace(/^export (?:declare )?(?!const)/, "");
  return `### ${name}

${said}

\`\`\`ts
${code}
\`\`\``;
}
