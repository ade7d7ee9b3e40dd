/**
 * The file that a word names, without line numbers; null when it is something else, or may well be. A wrong guess
 * makes an honest agent look like a liar, a missed one only lets a lie pass that other checks will find.
 */
export function fileNameIn(word: string): string | null {
  const path = withoutLineNumbers(withoutDecoration(word)).replace(/^\.\/+/, "");
  if (path.length === 0 || path.length > PATH_LENGTH_MAX || NO_PATH.test(path)) return null;
  if (path.includes(" ") && COMMAND.test(path)) return null;
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (NAMES_WITHOUT_EXTENSION.has(name)) return path;
  const extension = /[^.\s]\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1]?.toLowerCase();
  if (extension === undefined || /^\d+$/.test(extension)) return null;
  if (path === name && (!EXTENSIONS.has(extension) || LIBRARY.test(name))) return null;
  return DOMAIN.test(path) ? null : path;
}

const PATH_LENGTH_MAX = 300;

function withoutDecoration(word: string): string {
  const bare = word
    .trim()
    .slice(0, PATH_LENGTH_MAX + 50)
    .replace(/^[*_(]+/, "")
    .replace(/[.,;:!?*…]+$/, "");
  return bare.endsWith(")") && !bare.includes("(") ? bare.slice(0, -1) : bare;
}

/** `:10`, `:10:5`, `:10-20`, `:L3`, `#L10-L20`. */
function withoutLineNumbers(path: string): string {
  return path.replace(/(?::L?\d+(?:[-–:,]L?\d+)*|#L\d+(?:[-–]L?\d+)?)$/, "");
}

/** Addresses, globs, code, import aliases, and what leads out of sight. */
const NO_PATH = /:\/\/|^(?:mailto:|www\.|@\/|~)|[*?<>|;={}"`\\\n\0]|\/\//;
const COMMAND =
  /^(?:npm|npx|pnpm|yarn|bun|node|deno|git|cargo|go|python3?|pip|make|cd|ls|cat|rm|mkdir|sh|bash) /;
/** Libraries that are called like files. */
const LIBRARY =
  /^(?:node|next|nuxt|vue|react|express|three|d3|chart|alpine|ember|backbone|discord|moment|p5)\.js$/i;
const DOMAIN = /^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|ai|app)\//i;

const NAMES_WITHOUT_EXTENSION: ReadonlySet<string> = new Set(
  "Makefile Dockerfile Containerfile Gemfile Rakefile Procfile Justfile justfile Jenkinsfile Vagrantfile CODEOWNERS .gitignore .gitattributes .dockerignore .npmrc .npmignore .nvmrc .editorconfig .env .eslintrc .prettierrc .prettierignore .babelrc".split(
    " ",
  ),
);

const EXTENSIONS: ReadonlySet<string> = new Set(
  "ts tsx mts cts js jsx mjs cjs json jsonc json5 py pyi ipynb rs go java kt kts scala groovy gradle rb erb php c h cc cpp cxx hpp hh cs fs swift m mm dart ex exs erl hs clj lua pl r jl zig nim v sol vue svelte astro html htm css scss sass less xml svg yaml yml toml ini cfg conf env properties md mdx rst adoc txt csv tsv sql graphql gql proto prisma sh bash zsh fish ps1 bat cmd dockerfile tf hcl nix lock log snap feature png jpg jpeg gif ico webp pdf wasm patch diff tmpl hbs ejs pug".split(
    " ",
  ),
);
