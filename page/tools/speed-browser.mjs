/** Run test/speed.ts in a headless Chromium and print what it wrote; CHROMIUM names another browser than `chromium`. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "recombine-speed-"));
const script = buildSync({ entryPoints: ["test/speed.ts"], bundle: true, minify: true, format: "iife", write: false });
const page = join(folder, "speed.html");
writeFileSync(page, `<!doctype html><meta charset="utf-8"><body><script>${script.outputFiles[0].text}</script></body>`);
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const dumped = execFileSync(
  process.env.CHROMIUM ?? "chromium",
  [...flags, `--user-data-dir=${folder}`, "--dump-dom", pathToFileURL(page).href],
  { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
);
rmSync(folder, { recursive: true, force: true });
console.log(/<pre>([^]*?)<\/pre>/.exec(dumped)?.[1] ?? dumped);
