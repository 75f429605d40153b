// Build the page: script and style go into one HTML file that asks for nothing.
// node tools/build.mjs [--check]: with --check the committed file is compared, and nothing is written.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const TARGET = at("../../src/recombine/explore/page.html");
const LARGEST = 60_000;

async function bundle(entry) {
  const made = await build({
    entryPoints: [at(entry)],
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

const script = (await bundle("../src/view/app.ts")).replaceAll("</script", "<\\/script");
const style = await bundle("../src/style.css");
const page = readFileSync(at("../src/index.html"), "utf8")
  // Functions, so that no $ of the code is taken for a place in the pattern.
  .replace("/* style */", () => style)
  .replace("/* script */", () => script);
const size = gzipSync(page, { level: 9 }).length;
if (size > LARGEST) throw new Error(`the page has ${size} bytes compressed, more than ${LARGEST}`);
if (process.argv.includes("--check")) {
  if (readFileSync(TARGET, "utf8") !== page) {
    console.error("src/recombine/explore/page.html is not what page/ gives; run: npm --prefix page run build");
    process.exit(1);
  }
} else writeFileSync(TARGET, page);
console.log(`page.html: ${page.length} characters, ${size} bytes compressed`);
