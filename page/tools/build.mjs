// Build the page (script and style go into one HTML file that asks for nothing), the script of audit reports, and
// what is added to the page where a table is served with it.
// node tools/build.mjs [--check]: with --check the committed files are compared, and nothing is written.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = "src/recombine/explore/page.html";
const REPORT = "src/recombine/report/templates/ask.js";
const SERVED = "src/recombine/explore/served";
const LARGEST = 75_000;
// What was built from what, so that a test without node can tell that both belong together.
const RECORD = "page/built.json";
// By which tables are read, here as in Python; seen from page/.
const RULES = "../src/recombine/sheets/rules.json";
const record = { sources: digestOf(sources()) };

// Reports carry theirs uncompressed.
const LARGEST_SCRIPT = 40_000;

/** What makes the page smaller: limits of the rules where they are compared, lists of words as one string, of Parquet no maps and statistics. */
const lean = {
  name: "lean",
  setup({ onLoad }) {
    const rules = JSON.parse(readFileSync(at(`../${RULES}`), "utf8"));
    const limitOf = (limits, name) => {
      if (!(name in limits)) throw new Error(`the rules have no limit called ${name}`);
      return String(limits[name]);
    };
    const packed = (value) => {
      if (Array.isArray(value)) return `${JSON.stringify(value.join("|"))}.split("|")`;
      return value && typeof value === "object" ? `{${Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}:${packed(inner)}`)}}` : JSON.stringify(value);
    };
    onLoad({ filter: /sheets.rules\.json$/ }, () => {
      const { words, points, patterns } = rules.roles;
      return { contents: Object.entries({ ...rules, roles: { words, points, patterns } }).map(([key, value]) => `export const ${key} = ${packed(value)};`).join("\n") };
    });
    onLoad({ filter: /src.reading.\w+\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8")
        .replace(/\bruleLimit\("([^"]+)"\)/g, (_, name) => limitOf(rules.limits, name))
        .replace(/\broleLimit\("([^"]+)"\)/g, (_, name) => limitOf(rules.roles.limits, name)),
    }));
    // Statistics, indexes and filters of columns serve those who read a part of a file.
    onLoad({ filter: /hyparquet.src.(metadata|column)\.js$/ }, ({ path }) => {
      const whole = readFileSync(path, "utf8").replaceAll("\r\n", "\n");
      const unread = "statistics|encodings|encoding_stats|sorting_columns|key_value_metadata|\\w+_statistics|file_\\w+|bloom_\\w+|(?:offset|column)_index_\\w+|crypto_\\w+|encrypted_\\w+|ordinal|total_byte_size|total_uncompressed_size|index_page_offset|(?:definition|repetition)_level_encoding|is_sorted";
      const less = whole.replace(new RegExp(`^( +)(?:${unread}): (?:.*,|[^]*?\\n\\1\\}(?:\\)\\))?,)\\n`, "gm"), "");
      if (whole.length - less.length < 200) throw new Error("hyparquet writes its statistics elsewhere; look for them");
      return { contents: less };
    });
    onLoad({ filter: /hyparquet.src.(wkb|geoparquet)\.js$/ }, () => ({ contents: "export function wkbToGeojson() {} export function markGeoColumns() {}" }));
  },
};

/** Names of fields that only the reader of Parquet and reading/parquet.ts use, which are written short. */
const PARQUET_FIELDS = ["metadata", "column"].flatMap((name) => readFileSync(at(`../node_modules/hyparquet/src/${name}.js`), "utf8").match(/\b(?!field_)[a-z]+(?:_[a-z0-9]+)+(?=[:,]| = )/g));

async function bundle(entry) {
  const made = await build({
    entryPoints: [at(entry)],
    plugins: [lean],
    mangleProps: new RegExp(`^(?:${PARQUET_FIELDS.join("|")})$`),
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    write: false,
    logLevel: "warning",
  });
  return made.outputFiles[0].text.trim();
}

/** A bundle made smaller once more: terser folds what esbuild leaves, 5 % of what is sent. */
async function scriptOf(entry) {
  const { code } = await minify(await bundle(entry), { ecma: 2022, compress: { passes: 3, inline: 1, unsafe_arrows: true, unsafe_methods: true, toplevel: true }, mangle: { toplevel: true } });
  return code.replaceAll("</script", "<\\/script");
}

/** The SHA-256 of some texts. */
function digestOf(texts) {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text);
  return hash.digest("hex");
}

/** Names and texts of everything that a build rests on, in the order of the names. */
function sources() {
  const names = readdirSync(at("../src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`.slice(at("..").length).replaceAll("\\", "/"));
  return [...names, "package-lock.json", "tools/build.mjs", RULES].sort().flatMap((name) => [name, readFileSync(at(`../${name}`), "utf8")]);
}

function put(target, text) {
  if (target !== RECORD) record[target] = digestOf([text]);
  const path = at(`../../${target}`);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`${target} is not what page/ gives; run: npm --prefix page run build`);
    process.exit(1);
  }
}

const script = await scriptOf("../src/view/start.ts");
const style = await bundle("../src/style.css");
const page = readFileSync(at("../src/index.html"), "utf8")
  // Functions, so that no $ of the code is taken for a place in the pattern.
  .replace("/* style */", () => style)
  .replace("/* script */", () => script);
const size = gzipSync(page, { level: 9 }).length;
if (size > LARGEST) throw new Error(`the page has ${size} bytes compressed, more than ${LARGEST}`);
put(PAGE, page);
console.log(`page.html: ${page.length} characters, ${size} bytes compressed`);

const asking = await scriptOf("../src/report/ask.ts");
if (asking.length > LARGEST_SCRIPT) throw new Error(`ask.js has ${asking.length} characters, more than ${LARGEST_SCRIPT}`);
put(REPORT, `${asking}\n`);
console.log(`ask.js: ${asking.length} characters`);

const served = await scriptOf("../src/served/host.ts");
if (served.length > LARGEST_SCRIPT) throw new Error(`served.js has ${served.length} characters, more than ${LARGEST_SCRIPT}`);
put(`${SERVED}.js`, `${served}\n`);
put(`${SERVED}.css`, `${await bundle("../src/served/served.css")}\n`);
console.log(`served.js: ${served.length} characters`);

put(RECORD, `${JSON.stringify(record, null, 2)}\n`);
